"""A linearised model in python-control."""

import builtins

import numpy as np
import pytest

import index3 as ix
from index3.errors import Index3Error


def linear():
    model = ix.library.pendulum()
    name = next(iter(model.joints))
    return name, ix.linearize(model, initial=ix.static(model), inputs=[name], outputs=[f"{name}.angle"])


def test_the_same_poles_and_names():
    control = pytest.importorskip("control")
    name, found = linear()
    system = found.to_control()
    assert isinstance(system, control.StateSpace)
    assert np.sort_complex(system.poles()) == pytest.approx(np.sort_complex(np.linalg.eigvals(found.A)), abs=1e-9)
    assert system.output_labels == [f"{name}_angle"]
    assert np.array_equal(system.B, found.B)


def test_without_it_the_error_says_what_to_install(monkeypatch):
    _, found = linear()
    real = builtins.__import__

    def without(name, *arguments, **settings):
        if name == "control":
            raise ImportError(name)
        return real(name, *arguments, **settings)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Index3Error, match=r"pip install 'index3\[control\]'"):
        found.to_control()
