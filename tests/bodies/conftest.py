"""Puts the directory of the contracts on the path, so that the tests share its chain of nodes; runs that they share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "contracts"))


@pytest.fixture(scope="session")
def swing():
    """A flexible frame that swings with a rod, run once."""
    from flexible_models import swinging  # here: tests of other kinds need none of it

    import index3 as ix

    return ix.simulate(swinging(), (0, 0.2), "radau5", rtol=1e-8, atol=1e-10, t_eval=0.02)
