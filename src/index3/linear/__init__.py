"""Linear solvers: a fixed-order sparse LU for the time loop, SciPy for statics and for comparison."""
