"""What runs of the library gain: a cheap part of what `benchmarks/audit.py` looks at."""

import warnings

import pytest

import index3 as ix
from index3.methods.registry import METHODS


@pytest.mark.parametrize("key", ["auto", *METHODS])
def test_no_warning_at_the_default_tolerance(key):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.simulate(ix.library.slider_crank(), (0, 2), key, t_eval=0.1)
    assert result.success, result.message
    assert result.audit.ok


@pytest.mark.parametrize("key", ["auto", *(key for key, method in METHODS.items() if method().audited)])
def test_gain_at_a_loose_tolerance(key):
    """Of the kinetic energy, which is most of the scale; 3 to 4 % were seen before tolerances were cut on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.simulate(ix.library.four_bar(), (0, 10), key, rtol=1e-4, t_eval=0.1)
    assert result.success, result.message
    assert result.audit["energy"].value <= 0.05 * result.energy.kinetic.max()
