"""The registry of methods: keys, attributes, the generated page."""

from __future__ import annotations

import pytest

import index3 as ix
from index3.methods.registry import METHODS

KEYS = [
    "hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "al-index1", "al-index3", "multi-index", "adams",
    "dopri5", "dop853", "hem4", "tlismni-trapezoidal", "tlismni-adams3", "tlismni-adams4", "tlismni-hht",
    "tlismni-bdf2", "statespace-trapezoidal", "descriptor-trapezoidal", "descriptor-sdirk4", "firstorder-sdirk4",
    "rosenbrock4",
]  # fmt: skip


def test_keys_of_the_contract_are_there():
    assert list(METHODS) == KEYS
    assert ix.METHODS is METHODS


@pytest.mark.parametrize("key", KEYS)
def test_classes_describe_themselves(key):
    method = METHODS[key]
    assert method.key == key
    low, high = method.order if isinstance(method.order, tuple) else (method.order, method.order)
    assert 1 <= low <= high <= 12
    assert isinstance(method.implicit, bool)
    assert isinstance(method.stiff, bool)
    assert method.family
    assert method.paper
    assert method.summary
    assert not method.summary.endswith(" ")  # a sentence that was cut off
    assert "newton_tol" in method.options
    assert method() == method(**method.options)
