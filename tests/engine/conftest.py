"""Puts the examples of all elements, made for model files, on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "files"))
