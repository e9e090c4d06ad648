"""The equations that all analyses share: compiled model, state, projection."""

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.errors import AssemblyError, ModelError
from index3.methods import projection_kernels
from index3.system import evaluate


def test_assembles_at_the_time_of_the_start():
    model = ix.library.four_bar()
    run = ix.simulate(model, (0.0, 0.1), t_eval=0.1)
    equations = Equations(model, "test")
    assembly = equations.assemble(start=equations.start(run))
    assert assembly.t == equations.t == 0.1
    np.testing.assert_allclose(assembly.q, run.q[-1], atol=1e-12)  # closed already: moves by rounding


def test_a_start_without_a_usable_time_is_refused():
    class Elsewhere:
        q, v, t = np.eye(7)[3], np.zeros(7), np.array([0.0, 1.0])

    equations = Equations(ix.library.pendulum(), "linearize")
    with pytest.raises(ModelError, match="linearize: t = "):
        equations.assemble(start=equations.start(Elsewhere()))


def test_a_projection_that_fails_raises_with_names():
    model = ix.Model("out of reach")
    ball = model.add(ix.PointMass("ball", 1.0, position=(0.5, 0.1, 0.0)))
    for name, x in (("left", 0.0), ("right", 5.0)):
        model.add(ix.Distance(name, model.ground.marker((x, 0, 0)), ball.marker(), length=1.0))
    equations = Equations(model, "test")
    with pytest.raises(AssemblyError, match=r"No positions satisfy.*(left|right)"):
        equations.project(projection_kernels.assemble_positions)


def test_an_evaluation_that_fails_raises_what_it_found():
    model = ix.library.pendulum()
    model.add(ix.Motion("drive", model["pivot"], lambda t: 1.0 / 0.0, 0.0, 0.0))
    equations = Equations(model, "test")
    with pytest.raises(ModelError, match=r"Motion 'drive'.*ZeroDivisionError"):
        equations.evaluate(evaluate.forces)


def test_the_projection_is_made_when_first_asked_for():
    equations = Equations(ix.library.pendulum(), "test")
    assert "projection" not in vars(equations)
    assert equations.projection is equations.projection
    assert equations.projection.state is equations.state
    assert equations.state[s.Q].tolist() == equations.system.q0.tolist()
