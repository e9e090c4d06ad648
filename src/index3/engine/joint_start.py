"""A start by joint coordinates: {"pin.angle": 0.3, "pin.angle_rate": 2.0}, the rest close to the model's own start.

The coordinates are rows of motions in a copy of the model: positions are led from where they are to what is asked in
small steps, so that loops stay on their branch; rates are then met together with the velocities that the model gives.
What a joint outside loops carries moves along as one (`index3.engine.outboard`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.engine.assembly import project_positions, project_state
from index3.engine.equations import Equations
from index3.engine.outboard import at_origin, outboard_bodies
from index3.engine.start import Start
from index3.errors import AssemblyError, ModelError
from index3.files.units import near
from index3.joints.drives import Motion
from index3.methods.projection import kernels_for
from index3.model.model import Model
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.system import System

TURN = 0.2
"""Turn of a joint in one step on the way to its angle [rad]: loops follow it without leaping to another branch."""
STEPS = 5
"""Least number of steps to a displacement."""
HALVINGS = 8
MOST_TURNS = 1000
"""Full turns to an angle beyond which it is taken for a slip: they are made one by one, which takes seconds."""
MET = 1e-9
"""Residual of what is given that counts as met [m, rad]: Newton's iterations end at rounding, far below."""

Coordinate = tuple[str, str]


def joint_start(equations: Equations, values: Mapping[str, Any], t: float) -> Start:
    """The consistent state at time t in which some joint coordinates and rates have given values.

    Raises
    ------
    ModelError : an unknown name, a value that is no number, or a coordinate that a motion drives.
    AssemblyError : no such state was found; names what was asked.
    """
    model, analysis = equations.model, equations.analysis
    opened: frozenset[str] = getattr(equations, "open", frozenset())
    positions, rates = read_values(model, values, analysis)
    asked = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
    driven = Driven(equations, list(positions), opened)
    try:
        equations.close(t)
        equations.evaluate(evaluate.angles)
        driven.hold(t, equations.state[s.Q], equations.state[s.V], equations.state[s.ANGLES])
        v = driven.move_to(t, np.array(list(positions.values())))
        q, angle = driven.state[s.Q].copy(), driven.state[s.ANGLE_REF].copy()
        turning = Driven(equations, list(rates), opened)
        return turning.start_from(t, q, carried_rates(turning.system, q) if v is None else v, angle, rates.values())
    except AssemblyError as error:
        raise AssemblyError(f"{analysis}: no start with {asked} was found. {in_words_given(str(error))}") from error


def in_words_given(message: str) -> str:
    """A message with the names that the user gave instead of the motions that stand for them here."""
    message = re.sub(r"Motion 'given (\w+) of (.+?)'", r"'\2.\1' as given", message)
    return re.sub(r"given (\w+) of (.+?)\.\1\b", r"\2.\1 as given", message)


def read_values(
    model: Model, values: Mapping[str, Any], analysis: str
) -> tuple[dict[Coordinate, float], dict[Coordinate, float]]:
    """Positions and rates by (joint, coordinate)."""
    positions: dict[Coordinate, float] = {}
    rates: dict[Coordinate, float] = {}
    known = [f"{joint.name}.{name}{end}" for joint in model.joints.values() for name in joint.coordinates
             for end in ("", "_rate")]  # fmt: skip
    for key, value in values.items():
        if key not in known:
            joint = model.joints.get(str(key).rpartition(".")[0])
            own = [name for name in known if joint is not None and name.startswith(f"{joint.name}.")]
            if joint is not None and not own:
                raise ModelError(f"{analysis}: initial names {key!r}, but {joint.label} has no joint coordinates.")
            raise ModelError(f"{analysis}: initial names {key!r}, no joint coordinate. {near(str(key), own or known)}")
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        joint_name, _, coordinate = key.rpartition(".")
        if not math.isfinite(number):
            raise ModelError(f"{analysis}: initial has {key} = {short(value)}. Give a finite number.")
        place = (
            rates
            if coordinate.endswith("_rate") and coordinate not in model.joints[joint_name].coordinates
            else positions
        )
        coordinate = coordinate.removesuffix("_rate") if place is rates else coordinate
        driver = next((m for m in model.motions.values()
                       if m.joint.name == joint_name and m.coordinate == coordinate), None)  # fmt: skip
        if driver is not None:
            raise ModelError(
                f"{analysis}: initial gives {key} of {driver.joint.label}, which {driver.label} drives. Leave it out."
            )
        joint = model.joints[joint_name]
        if joint.coordinate_primitive(coordinate).kind == "distance":
            raise ModelError(f"{analysis}: initial gives {key}, which {joint.label} keeps constant. Leave it out.")
        place[joint_name, coordinate] = number
    return positions, rates


class Driven:
    """A copy of a model in which some joint coordinates have values that can be set."""

    def __init__(self, equations: Equations, coordinates: Sequence[Coordinate], opened: frozenset[str]) -> None:
        model = equations.model.copy()
        self.values, self.rates = np.zeros(len(coordinates)), np.zeros(len(coordinates))
        self.time, self.motions = 0.0, []
        self.angular = np.array([coordinate == "angle" for _, coordinate in coordinates], bool)
        for k, (joint, coordinate) in enumerate(coordinates):
            functions = (partial(self.value, k), partial(self.rate, k), constant)
            motion = Motion(f"given {coordinate} of {joint}", model.joints[joint], *functions, coordinate=coordinate)
            self.motions.append(model.add(motion))
        system = compile_model(model, kernels_for(model, linear=equations.linear), without=opened)
        self.equations = Equations(model, equations.analysis, system, equations.linear)
        self.state, self.system = self.equations.state, system
        rows = {id(group.element): group.row for group in system.groups}
        self.rows = [rows[id(motion)] for motion in self.motions]
        markers = {id(group.element): group.marker_numbers for group in system.groups}
        starts = {body.name: first for body, first in zip(system.bodies, system.starts, strict=False)}
        self.outboard = [
            outboard_bodies(model, motion.joint, motion.coordinate, markers[id(motion)], starts, opened)
            for motion in self.motions
        ]

    def value(self, k: int, t: float) -> float:
        """What coordinate k is to be at time t."""
        return float(self.values[k] + self.rates[k] * (t - self.time))

    def rate(self, k: int, t: float) -> float:
        """And its rate."""
        return float(self.rates[k])

    def hold(self, t: float, q: np.ndarray, v: np.ndarray, angle: np.ndarray) -> None:
        """Let the state be there, and the coordinates what they are there."""
        self.state.move(t, q, v)
        self.state[s.ANGLE_REF][:] = angle
        self.values[:], self.rates[:], self.time = 0.0, 0.0, t
        self.equations.evaluate(evaluate.forces)
        self.values[:] = self.state[s.PHI][self.rows]

    def move_to(self, t: float, target: np.ndarray) -> np.ndarray | None:
        """Move to where the coordinates are `target`; return the rates that go along, None if loops were moved."""
        v = self.state[s.V].copy()
        if not len(target):
            return v
        start, way = self.values.copy(), target - self.values
        turns = float(np.abs(way[self.angular]).max(initial=0.0)) / (2.0 * math.pi)
        if turns > MOST_TURNS:
            raise AssemblyError(f"An angle is {turns:.3g} turns away, more than {MOST_TURNS}. Leave out full turns.")
        count = max(STEPS, math.ceil(2.0 * math.pi * turns / TURN))
        done, step, halvings = 0.0, 1.0 / count, 0
        q, angle = self.state[s.Q].copy(), self.state[s.ANGLE_REF].copy()
        while done < 1.0:
            part = min(1.0, done + step) if 1.0 - done - step > 1e-12 else 1.0
            self.values[:] = target if part == 1.0 else start + part * way
            ahead, rates = self.carry(t, q, v, (part - done) * way)
            try:
                self.close(t, ahead, angle)
            except AssemblyError:
                halvings += 1
                if halvings > HALVINGS:
                    raise
                step *= 0.5
                continue
            done, q, angle, v = part, self.state[s.Q].copy(), self.state[s.ANGLE_REF].copy(), rates
        return None if None in self.outboard else v

    def carry(self, t: float, q: np.ndarray, v: np.ndarray, ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates after what the joints carry has gone some way with each coordinate."""
        q, v = q.copy(), v.copy()
        for moved, way in zip(self.outboard, ways, strict=True):
            if moved is not None and way != 0.0:
                r, A, V = self.markers(t, q, v)
                stays = moved.marker if moved.sign > 0.0 else moved.end
                base = at_origin(r[stays], V[stays])
                moved.move(q, v, moved.displacement(r, A, way), base)
        return q, v

    def markers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points (n, 3), axes (n, 3, 3) and twists (n, 6) of all markers."""
        self.state.move(t, q, v)
        self.equations.evaluate(evaluate.forces)
        return self.state[s.MARKER_R], self.state[s.MARKER_A].reshape(-1, 3, 3), self.state[s.MARKER_V]

    def close(self, t: float, q: np.ndarray, angle: np.ndarray) -> None:
        """Close the positions near q."""
        self.state.move(t, q, np.zeros(self.system.n))
        self.state[s.ANGLE_REF][:] = angle
        project_positions(self.state, self.equations.projection, t, np.zeros(self.system.n, bool), q)
        self.equations.evaluate(evaluate.forces, evaluate.angles)
        residual = np.where(self.system.level == 0, self.state[s.PHI], 0.0)
        if not np.abs(residual).max(initial=0.0) <= MET:
            raise AssemblyError(f"These rows are not satisfied: {self.system.worst_rows(residual)}.")
        self.state[s.ANGLE_REF][:] = self.state[s.ANGLES]

    def start_from(self, t: float, q: np.ndarray, v: np.ndarray, angle: np.ndarray, wanted: Iterable[float]) -> Start:
        """The state with these positions, wanted rates, and otherwise the rates v as far as the constraints allow."""
        rates = np.array(list(wanted))
        v = self.with_rates(t, q, v, angle, rates)
        self.hold(t, q, v, angle)
        self.rates[:] = rates
        near_v = Start(q, v, angle, t, self.system.given_rates)
        project_state(self.state, self.equations.projection, t, start=near_v)
        self.equations.evaluate(evaluate.forces, evaluate.jacobian, evaluate.rates)
        residual = self.state[s.RATE]
        if not np.abs(residual).max(initial=0.0) <= MET * max(1.0, np.abs(rates).max(initial=0.0)):
            raise AssemblyError(f"The rates of these rows are not met: {self.system.worst_rows(residual)}.")
        return Start(self.state[s.Q].copy(), self.state[s.V].copy(), angle, t)

    def with_rates(self, t: float, q: np.ndarray, v: np.ndarray, angle: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Rates v after what the joints carry has been given the wanted rates."""
        self.hold(t, q, v, angle)
        v = v.copy()
        for k, moved in enumerate(self.outboard):
            if moved is not None:
                r, A, _ = self.markers(t, q, v)
                self.equations.evaluate(evaluate.jacobian, evaluate.rates)
                moved.add_rate(q, v, r, A, rates[k] - self.state[s.RATE][self.rows[k]])
        return v


def constant(t: float) -> float:
    """The second derivative of a value that moves at a constant rate."""
    return 0.0


def carried_rates(system: System, q: np.ndarray) -> np.ndarray:
    """The model's own rates, of bodies that were moved to q: with the velocities in ground axes that they had."""
    rates = system.v0.copy()
    for body, start in zip(system.bodies, system.starts, strict=False):
        own = slice(start, start + body.size)
        if body.kind == "states" or body.deforms or body.size > 7 or not rates[own].any():
            continue  # of a body with more coordinates the frame alone does not tell the rates
        unit, still = np.eye(body.size), np.zeros((body.size, body.size))
        there = body.frame_motion(body.constants(), None, np.tile(q[own], (body.size, 1)), unit, still)
        here = body.frame_motion(body.constants(), None, system.q0[None, own], rates[None, own], rates[None, own])
        gradient = np.hstack([there.velocity, there.angular_velocity]).T
        twist = np.hstack([here.velocity[0], here.angular_velocity[0]])
        rates[own] = np.linalg.lstsq(gradient, twist, rcond=None)[0]  # the shortest: Euler parameters keep their norm
    return rates
