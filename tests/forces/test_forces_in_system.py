"""Forces in a compiled model: they reach the equations, name themselves when they break, and travel with the model."""

import pickle

import numpy as np
import pytest

from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.coordinate_spring import RotationalSpringDamper
from index3.forces.load import Force, Torque
from index3.forces.spring_damper import SpringDamper
from index3.forces.user import UserForce
from index3.joints import Revolute
from index3.model.model import Model
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State


def wind(t, r, A, v, w, p, out):
    out[0, 0] = p[0]


def late(t, r, A, v, w, p, out):
    if t > 1.0:
        raise RuntimeError("too late")


def evaluated(model):
    state = State(compile_model(model))
    assert state.run(evaluate.forces) == 0
    return state


def test_generalised_forces_of_a_point():
    model = Model(gravity=(0, 0, 0))
    ball = model.add(PointMass("ball", 1.0, position=(0, 0, -2)))
    model.add(SpringDamper("spring", model.ground, ball, points=((0, 0, 0), (0, 0, -2)), stiffness=10.0, length=1.5))
    model.add(Force("push", ball, lambda t: (1.0 + t, 0.0, 0.0)))
    model.add(UserForce("wind", ball, wind, [0.25]))
    assert evaluated(model)[s.G].tolist() == [-1.25, 0.0, -5.0]  # G = -Q


def test_generalised_forces_of_a_planar_body():
    model = Model(gravity=(0, 0, 0))
    arm = model.add(PlanarBody("arm", 1.0, 0.1, position=(1, 0), angle=0.5))
    pin = model.add(Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(RotationalSpringDamper("coil", pin, stiffness=4.0, free_angle=0.5))
    model.add(Torque("motor", arm, (0, 0, 3.0)))
    model.add(Force("push", arm, (0, 7.0, 0), at=(2, 0, 0)))
    # rounding: the point of the push is carried to body axes and back
    assert np.allclose(evaluated(model)[s.G], [0, -7, -(2.0 + 3.0 + 7.0)], rtol=0, atol=1e-14)


def test_a_spring_of_no_length_is_named():
    model = Model()
    ball = model.add(PointMass("ball", 1.0))
    model.add(SpringDamper("spring", model.ground, ball, points=((0, 0, 0), (0, 0, 0)), stiffness=1.0, length=1.0))
    state = State(compile_model(model))
    assert state.run(evaluate.forces) != 0
    assert state.system.explain(state).startswith("SpringDamper 'spring' has both ends at one point at t = 0")


def test_a_failing_user_force_is_named():
    model = Model()
    box = model.add(RigidBody.box("box", (1, 1, 1), mass=1.0))
    model.add(UserForce("wind", box, wind, [1.0]))
    force = model.add(UserForce("late", box, late))
    state = evaluated(model)
    state[s.TIME][0] = 2.0
    assert state.run(evaluate.forces) != 0
    assert state.system.explain(state) == "UserForce 'late': its function f raised RuntimeError at t = 2: too late"
    assert isinstance(force.failure, RuntimeError)
    state[s.TIME][0] = 0.5
    assert state.run(evaluate.forces) == 0


def test_models_with_forces_can_be_pickled_and_copied():
    model = Model(gravity=(0, 0, 0))
    ball = model.add(PointMass("ball", 1.0))
    model.add(UserForce("wind", ball, wind, [0.25], "differences"))
    for other in (pickle.loads(pickle.dumps(model)), model.copy()):
        assert other["wind"].markers[0].body is other["ball"]
        assert other["wind"].f is wind
        assert evaluated(other)[s.G].tolist() == [-0.25, 0.0, 0.0]


def test_forces_need_their_bodies_and_joints_in_the_model():
    model, ball = Model(), PointMass("ball", 1.0)
    with pytest.raises(ModelError, match="Force 'push' refers to PointMass 'ball', which is not in model"):
        model.add(Force("push", ball, (1, 0, 0)))
    arm = model.add(PlanarBody("arm", 1.0, 0.1))
    pin = Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1))
    with pytest.raises(
        ModelError, match="RotationalSpringDamper 'coil' refers to Revolute 'pin', which is not in model"
    ):
        model.add(RotationalSpringDamper("coil", pin))
