"""Things that nobody should pass: each has an error of index3 that says which setting, never one of Python or NumPy."""

import warnings

import numpy as np
import pytest
from small_models import pendulum

import index3 as ix
from index3.compiled import slots
from index3.engine.equations import Equations

HUGE = 10**400
"""A whole number larger than any float."""
JUNK = (None, "x", "", -1.0, np.nan, np.inf, HUGE, [], {}, np.zeros(3), np.array(3.0), 1j, b"x", object(), ["a", "a"])


@pytest.fixture(scope="module")
def result():
    return ix.simulate(pendulum(), (0.0, 0.1), t_eval=0.02, progress=False)


def sprung():
    model = pendulum()
    model.add(ix.SpringDamper("coil", model.ground.marker((0, 0, 1)), model["rod"].marker((0.1, 0, 0)), stiffness=9.0))
    return model


def answered(call):
    """Whether a call is refused by name; what it takes is not to warn of NumPy's troubles either."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            call()
        except ix.Index3Error as error:
            return bool(str(error).strip())
    return False


SETTINGS = {
    "atol": (1e308, HUGE), "step": (HUGE,), "first_step": (HUGE,), "max_step": (None, HUGE), "max_steps": (HUGE, 2.0),
    "t_eval": (HUGE, [HUGE]), "discontinuities": (HUGE, [np.nan]), "events": (np.array(3.0), [None]),
     "progress": (np.zeros(3), "loud"), "store": ("", ".", 3, "a\0b", "/dev/null"),
    "initial": ({"pin.angle": 1e308}, {"pin.angle": HUGE}, {"pin.angle": 1e6}, {3: 1.0}, (HUGE, HUGE), "x", 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_a_run(name):
    for value in SETTINGS[name]:
        with pytest.raises(ix.Index3Error, match=r"^simulate"):
            ix.simulate(pendulum(), (0.0, 0.1), "hht-i3", **{name: value})


def test_joints_that_are_open():
    for junk in (np.array(3.0), None):
        with pytest.raises(ix.ModelError, match=r"^open_joints: these are not names"):
            ix.simulate(pendulum(), (0.0, 0.1), "hht-i3", open_joints=junk)


@pytest.mark.parametrize("junk", JUNK, ids=lambda x: repr(x)[:12])
def test_questions_of_a_model(junk):
    model = pendulum()
    calls = {
        "assemble t": lambda: ix.assemble(model, junk), "assemble hold": lambda: ix.assemble(model, hold=junk),
        "static hold": lambda: ix.static(model, hold=junk), "static method": lambda: ix.static(model, method=junk),
        "inputs": lambda: ix.linearize(model, inputs=junk), "frame": lambda: ix.linearize(model, frame=junk),
        "energy": lambda: ix.energy_audit(model, junk), "local": lambda: ix.local_errors(model, junk, "dopri5", 0.1),
        "compare": lambda: ix.compare(junk, 0.1), "compare span": lambda: ix.compare(model, junk, ["dopri5"], [1e-3]),
        "sensitivity": lambda: ix.sensitivity(ix.library.pendulum, junk, lambda model: 1.0),
        "resume": lambda: ix.resume(junk), "load": lambda: ix.load(junk), "load model": lambda: ix.load_model(junk),
        "item": lambda: model[junk],
    }  # fmt: skip
    taken = [name for name, call in calls.items() if not answered(call)]
    fine = {"assemble hold", "static hold", "inputs"} if isinstance(junk, list | dict) and not junk else set()
    fine |= {"frame"} if junk is None or np.shape(junk) == (3,) else set()
    fine |= {"assemble t"} if isinstance(junk, float) else set()
    fine |= {"compare span"} if isinstance(junk, np.ndarray) and junk.ndim == 0 else set()
    assert set(taken) <= fine


@pytest.mark.parametrize("junk", JUNK, ids=lambda x: repr(x)[:12])
def test_questions_of_a_result(junk, result, tmp_path):
    calls = (
        lambda: result[junk], lambda: result.to_csv(tmp_path / "a.csv", [junk]), lambda: result["pin"].on(junk),
        lambda: result.to_pandas([junk]), lambda: result.spectrum(junk), lambda: result["pin"].force_in(junk),
        lambda: result.use_model(junk), lambda: ix.difference(result, junk), lambda: result.plot(junk),
    )  # fmt: skip
    assert all(answered(call) for call in calls)
    for write in (result.save, result.to_csv, result.to_html, pendulum().save):
        if not (isinstance(junk, str) and junk):
            assert answered(lambda write=write: write(junk))


CHOICES = {
    "follower": lambda junk, m: ix.Force("e", m["rod"], (1, 0, 0), follower=junk),
    "torque": lambda junk, m: ix.Torque("e", m["rod"], (1, 0, 0), follower=junk),
    "clamp": lambda junk, m: ix.Fixed("e", m.ground, m["rod"], at=(0, 0, 0), clamp=junk),
    "hollow": lambda junk, m: ix.shapes.Cylinder(1.0, 1.0, hollow=junk),
    "closed": lambda junk, m: ix.PointOnCurve("e", m.ground, m["rod"], [(0, 0), (1, 0), (1, 1), (0, 1)], closed=junk),
    "interpolation": lambda junk, m: ix.Curve([0, 1], [0, 1], interpolation=junk),
    "extrapolation": lambda junk, m: ix.Curve([0, 1], [0, 1], extrapolation=junk),
    "coordinate": lambda junk, m: ix.CoordinateConstraint("e", m["rod"], junk),
    "motion": lambda junk, m: ix.Motion("e", m["pin"], 0.0, coordinate="y" if junk is None else junk),
    "actuator": lambda junk, m: ix.Actuator("e", m["pin"], 0.0, coordinate="y" if junk is None else junk),
    "stiffness": lambda junk, m: ix.Bushing("e", m.ground, m["rod"], at=(0, 0, 0), stiffness=junk),
    "level": lambda junk, m: ix.UserConstraint("e", m["rod"], lambda t, r, A, v, w, p, out: None, rows=1, level=junk),
    "skip": lambda junk, m: ix.ContactSet(
        "e", [(m.ground, ix.shapes.Plane()), (m["rod"], ix.shapes.Sphere(1.0))], skip=junk, stiffness=1.0
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_choices_of_elements(choice):
    """Words that count as True are no choice, and arrays have no truth."""
    model = pendulum()
    for junk in (None, "no", np.zeros(3), np.array(3.0), np.nan, {}, HUGE):
        if choice == "stiffness" and np.shape(junk) == (3,):
            continue
        assert answered(lambda junk=junk: CHOICES[choice](junk, model)), (choice, junk)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ix.AncfCable("huge", (0, 0, 0), (1e200, 0, 0), radius=1, elements=1, young=1, density=1),
        lambda: ix.AncfBeam3D("huge", (0, 0, 0), (1e200, 0, 0), radius=1, elements=1, young=1, density=1),
        lambda: ix.AncfBeam(
            "huge", (0, 0), (1, 0), height=1e200, width=1e200, elements=1, young=1, poisson=0, density=1
        ),
    ],
)
def test_beams_beyond_all_numbers(make):
    with pytest.raises(ix.ModelError, match=r"'huge' has numbers so large that their products overflow"):
        make()


def test_no_accelerations_are_told_by_who_needs_them():
    """All kernels had an answer, but the matrix was singular."""
    model = pendulum()
    model.add(ix.AddedMass("water", model["rod"], 0.1, 0.01))
    equations = Equations(model, "check")
    equations.state[slots.STATUS][:] = 0
    said = equations.system.explain(equations.state)
    assert said.startswith("There are no accelerations at t = 0, which AddedMass 'water' needs")


LIBRARY = {
    "chain": "n", "parallelogram": "n", "belt_drive": "segments", "pendulum": "length", "double_pendulum": "c2",
    "four_bar": "lengths", "iltis": "speed", "mass_spring": "k", "flexible_slider_crank": "speed", "hmmwv14": "bump",
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARY)
def test_mechanisms_of_the_library(name):
    for junk in (None, "x", np.nan, np.inf, HUGE, {}, np.zeros(3), 1j, 1e308, -1.5):
        if name in ("chain", "parallelogram", "belt_drive") or not isinstance(junk, float) or not np.isfinite(junk):
            if name == "mass_spring" and np.shape(junk) == (3,):
                continue
            with pytest.raises(ix.ModelError, match=rf"^{name}.*{LIBRARY[name]}"):
                getattr(ix.library, name)(**{LIBRARY[name]: junk})


def test_a_stepper_and_a_batch():
    swinging = ix.prepare(sprung(), "dopri5", progress=False)
    stepper = swinging.stepper(0.0)
    stepper.advance(0.01)
    for junk in ("x", np.nan, HUGE, np.zeros(3), {}):
        assert answered(lambda junk=junk: stepper.set("coil.stiffness", junk))
    for junk in JUNK:
        assert answered(lambda junk=junk: stepper.set(junk, 1.0))
        assert answered(lambda junk=junk: stepper.get(junk))
    for junk in (3.0, np.array(3.0), "x", {}, [3.0], ["x"]):
        assert answered(lambda junk=junk: ix.batch(swinging, junk, (0.0, 0.1)))
