"""Errors of single steps by halving the step."""

import numpy as np
import pytest

import index3 as ix


@pytest.fixture(scope="module")
def pendulum():
    return ix.library.free_double_pendulum()


@pytest.fixture(scope="module")
def exact(pendulum):
    return ix.simulate(pendulum, (0, 2), "dop853", rtol=1e-11, t_eval=0.2)


def sizes(errors):
    return np.abs(errors.q).max(axis=1)


@pytest.mark.parametrize("key", ["hht-i3", "al-index1", "al-index3", "statespace-trapezoidal", "descriptor-sdirk4"])
def test_local_errors_are_of_one_order_more(pendulum, exact, key):
    """S1-20: halving the step divides the error of a step by 2^(p+1)."""
    large, small = (sizes(ix.local_errors(pendulum, exact, key, h)) for h in (4e-3, 2e-3))
    # 0.15: the next term of the error; 0.002 seen of the second order methods, 0.08 of the fourth order one
    assert np.median(np.log2(large / small)) == pytest.approx(ix.METHODS[key].order + 1, abs=0.15)


def test_extrapolation_meets_the_true_error(pendulum, exact):
    """S1-20: against the reference one step further."""
    h = 2e-3
    later = ix.simulate(pendulum, (0, 2 + h), "dop853", rtol=1e-11, t_eval=np.array([0.6, 1.2, 2.0]) + h)
    found = ix.local_errors(pendulum, exact, "al-index3", h)
    for k, at in enumerate((3, 6, 10)):
        start = exact.q[at], exact.v[at]
        one = ix.simulate(pendulum, (0, h), "al-index3", step=h, initial=start, t_eval=[h], project=False)
        true = one.q[-1] - later.q[k]
        # 10 %: Richardson leaves the next power of h; sizes are 1e-8 and the reference is good to 1e-10
        assert found.q[at] == pytest.approx(true, abs=0.1 * np.abs(true).max() + 1e-10)


def test_every_output_is_a_start_with_its_turns():
    """A spring wound by three turns pulls in the steps as it does in the run."""
    model = ix.Model("wound", gravity=(0, 0, 0))
    wheel = model.add(ix.PlanarBody("wheel", 1.0, 0.5, spin=40.0))
    pin = model.add(ix.Revolute("pin", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("spring", pin, stiffness=2.0))
    result = ix.simulate(model, (0, 1), "dop853", rtol=1e-10, t_eval=0.1)
    assert result["pin"].angle.max() > 6 * np.pi
    h = 1e-2
    errors = ix.local_errors(model, result, "al-index3", h)
    # the trapezoidal rule: h^3/12 a'', with a = -(k/J) angle = -4 angle
    expected = h**3 / 12 * 16.0 * result["pin"].angle
    assert errors.v[:, 2] == pytest.approx(expected, abs=0.05 * np.abs(expected).max())  # next term: h rate/(2 angle)


def test_bad_questions_are_named(pendulum, exact):
    with pytest.raises(ix.ModelError, match="'bdf-i3' needs past steps"):
        ix.local_errors(pendulum, exact, "bdf-i3", 1e-3)
    with pytest.raises(ix.ModelError, match="'tlismni-adams3' needs past steps"):
        ix.local_errors(pendulum, exact, "tlismni-adams3", 1e-3)
    with pytest.raises(ix.ModelError, match="step = -1"):
        ix.local_errors(pendulum, exact, "hht-i3", -1)
    with pytest.raises(ix.ModelError, match="has others"):
        ix.local_errors(ix.library.pendulum(), exact, "hht-i3", 1e-3)
    with pytest.raises(ix.SimulationFailed, match="does not converge"):
        ix.local_errors(pendulum, exact, "al-index1", 5.0)
