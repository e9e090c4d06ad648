"""Functions of the user that fail: the run ends with the part named, the original error, and the result so far."""

import numpy as np
import pytest
from small_models import particle, pendulum
from test_bad_input import LATE, refused, stops

import index3 as ix


def pulled(f, jacobian=None):
    model, bob = particle(position=(1, 0, 0))
    model.add(ix.UserForce("pull", bob, f, jacobian=jacobian))
    return model


def raises(t, r, A, v, w, p, out):
    out[0, 0] = -r[0, 0]
    if t > LATE:
        raise RuntimeError("pump is dry")


def not_finite(t, r, A, v, w, p, out):
    out[0, 0] = -r[0, 0] if t < LATE else np.nan


def wrong_shape(t, r, A, v, w, p, out):
    out[0, 0] = -r[0, 0]
    if t > LATE:
        out[:] = np.zeros(5)


def returns(t, r, A, v, w, p, out):
    out[0, 0] = -r[0, 0]
    return None if t < LATE else np.zeros(6)


def writes_to_input(t, r, A, v, w, p, out):
    out[0, 0] = -r[0, 0]
    if t > LATE:
        r[0] = 0.0


@pytest.mark.parametrize(
    ("f", "words", "cause"),
    [
        (raises, ("raised RuntimeError at t = 0.5", "pump is dry"), RuntimeError),
        (not_finite, ("not finite at t = 0.5",), None),
        (wrong_shape, ("raised ValueError", "shape (5,) into shape (1,6)"), ValueError),
        (returns, ("must fill out and return None",), ix.ModelError),
        (writes_to_input, ("raised ValueError", "read-only"), ValueError),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"t_eval": 0.01}, {"method": "hht-i3", "step": 0.01}])
def test_force_that_fails_mid_run(f, words, cause, settings):
    result, error = stops(pulled(f), "UserForce 'pull'", *words, **settings)
    assert 0.4 < result.t[-1] <= LATE + 0.01
    assert type(error.__cause__) is (cause or type(None))
    if cause is RuntimeError:
        assert error.__cause__.__traceback__.tb_next.tb_frame.f_code is raises.__code__  # where it happened


def test_jacobian_that_fails_mid_run():
    def jacobian(t, r, A, v, w, p, K, D):
        K[0, 0] = -1.0
        if t > LATE:
            raise ZeroDivisionError("no slope")

    def f(t, r, A, v, w, p, out):
        out[0, 0] = -r[0, 0]

    stops(pulled(f, jacobian), "UserForce 'pull'", "jacobian raised ZeroDivisionError", "no slope", method="hht-i3")


def test_the_model_can_run_again():
    model = pulled(raises)
    assert not ix.simulate(model, (0.0, 1.0)).success
    assert ix.simulate(model, (0.0, 0.4)).success


def test_force_that_fails_at_the_start():
    def f(t, r, A, v, w, p, out):
        raise RuntimeError("no oil")

    for analysis in (lambda m: ix.simulate(m, (0, 1)), ix.assemble, ix.check):
        error = refused(lambda analysis=analysis: analysis(pulled(f)), "UserForce 'pull'", "RuntimeError", "no oil")
        assert isinstance(error.__cause__, RuntimeError)


def test_force_with_other_arguments():
    refused(lambda: pulled(lambda t, r: None), "UserForce 'pull'", "f(t, r, A, v, w, p, out)")


def late(good, bad):
    """A function of time that goes wrong."""

    def f(t):
        if t > LATE:
            return bad()
        return good(t)

    return f


def fail():
    raise RuntimeError("valve shut")


@pytest.mark.parametrize(
    ("bad", "words", "cause"),
    [
        (fail, ("raised RuntimeError at t = 0.5", "valve shut"), RuntimeError),
        (lambda: (0.0, np.nan, 0.0), ("not a finite number at t = 0.5",), None),
        (lambda: (0.0, 1.0), ("returned (0.0, 1.0)", "Return three numbers"), ix.ModelError),
    ],
)
def test_load_that_fails_mid_run(bad, words, cause):
    model, bob = particle()
    model.add(ix.Force("push", bob, late(lambda t: (1.0, 0.0, 0.0), bad)))
    result, error = stops(model, "Force 'push'", *words)
    assert result.t[-1] == pytest.approx(LATE, abs=1e-6)  # the controller steps up to the end of what is defined
    assert type(error.__cause__) is (cause or type(None))


@pytest.mark.parametrize("which", ["value", "rate", "second derivative"])
@pytest.mark.parametrize(
    ("bad", "words"),
    [(fail, "raised RuntimeError"), (lambda: np.nan, "not a finite number"), (lambda: "fast", "raised ValueError")],
)
@pytest.mark.parametrize("settings", [{}, {"method": "hht-i3", "step": 0.01}])
def test_motion_that_fails_mid_run(which, bad, words, settings):
    functions = {"value": lambda t: 2 * t, "rate": lambda t: 2.0, "second derivative": lambda t: 0.0}
    functions[which] = late(functions[which], bad)
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], *functions.values()))
    result, _ = stops(model, "Motion 'drive'", words, **settings)
    assert np.abs(result["pin"].angle - 2 * result.t).max() < 1e-11


@pytest.mark.jit_off
def test_motion_that_fails_at_the_start():
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], lambda t: 1 / t, 0.0, 0.0))
    for analysis in (lambda m: ix.simulate(m, (0, 1)), ix.assemble, ix.check):
        error = refused(lambda analysis=analysis: analysis(model), "Motion 'drive'", "ZeroDivisionError")
        assert isinstance(error.__cause__, ZeroDivisionError)


def test_function_defined_only_up_to_the_end():
    """Trials never look beyond the end of the span."""

    def f(t):
        if t > 1.0:
            raise ValueError("beyond the table")
        return (1.0, 0.0, 0.0)

    model, bob = particle()
    model.add(ix.Force("push", bob, f))
    result = ix.simulate(model, (0.0, 1.0))
    assert result.success
    assert result["bob"].position[-1, 0] == pytest.approx(0.5, abs=1e-9)


def test_error_in_a_callback_is_the_users_own():
    def callback(t, q, v):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ix.simulate(pendulum(), (0.0, 0.1), callback=callback)
