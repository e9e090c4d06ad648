"""What drives a run: segments, events, switching, automatic choice, stalls, and the reason of an early end."""
