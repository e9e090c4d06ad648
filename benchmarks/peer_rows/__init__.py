"""Rows of `benchmarks/peers.py`: what is run, by index3 and by others, and when an error is small enough."""
