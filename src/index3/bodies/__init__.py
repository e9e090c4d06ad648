"""Bodies and their markers: what a user says of one (words) and, per kind, the kernels that move it."""
