"""Puts the directory of the contracts on the path, so that the tests share its chain of nodes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "contracts"))
