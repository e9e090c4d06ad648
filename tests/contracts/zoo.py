"""Small random mechanisms: every constraint primitive and force kind between every pair of body kinds that takes it."""

from __future__ import annotations

import numpy as np
from node_chain import NodeChain

import index3 as ix
from index3 import joints
from index3.bodies.modal_data import rigid_motions
from index3.compiled import slots as s
from index3.compiled.interface import Kernel
from index3.system import evaluate
from index3.system.state import State
from index3.system.system import System


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A random unit quaternion."""
    p = rng.normal(size=4)
    return p / np.linalg.norm(p)


def make_body(kind: str, name: str, rng: np.random.Generator):
    """A body of a kind at a random pose, with random rates."""
    if kind in ("rigid", "euler", "natural"):
        L = rng.normal(size=(3, 3))
        square = L @ L.T
        inertia = np.trace(square) * np.eye(3) - square  # of a cloud of points: always possible
        return {"rigid": ix.RigidBody, "euler": ix.EulerAngleBody, "natural": skew_natural_body}[kind](
            name, rng.uniform(0.5, 2), inertia, position=rng.normal(size=3), orientation=random_rotation(rng),
            velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
        )  # fmt: skip
    if kind in ("planar", "natural planar"):
        return (ix.PlanarBody if kind == "planar" else ix.NaturalPlanarBody)(
            name, rng.uniform(0.5, 2), rng.uniform(0.5, 2), position=rng.normal(size=2), angle=rng.normal(),
            velocity=rng.normal(size=2), spin=rng.normal(),
        )  # fmt: skip
    if kind == "point":
        return ix.PointMass(name, rng.uniform(0.5, 2), position=rng.normal(size=3), velocity=rng.normal(size=3))
    if kind == "linkage":
        return make_linkage(name, rng)
    if kind == "node chain":
        body = NodeChain(name, position=rng.normal(size=3), displaced=0.2 * rng.normal(size=(5, 8)))
        body.v0[:] = rng.normal(size=body.size)
        body.rest = body.q0.copy()  # else its own springs would do work beside the forces under test
        return body
    if kind == "ancf beam":
        return make_beam(name, rng)
    if kind in LINES:
        return make_line(kind, name, rng)
    if kind == "modal":
        return make_modal_body(name, rng)
    raise KeyError(f"the zoo has no body of kind '{kind}'")


BODY_KINDS = (
    "rigid",
    "euler",
    "natural",
    "planar",
    "point",
    "ancf beam",
    "ancf cable",
    "ancf beam 3d",
    "modal",
    "node chain",
)
"""One for each module of kernels of bodies, those of the tests too."""


def make_beam(name: str, rng: np.random.Generator, **settings) -> ix.AncfBeam:
    """A soft curved beam of three elements, undeformed, with any rates of its coordinates."""
    points = rng.normal(size=2) + np.array(((0.0, 0.0), (0.5, 0.2), (1.1, 0.3), (1.5, 0.1)))
    material = {"height": 0.2, "width": 0.3, "young": 30.0, "poisson": 0.3, "density": 20.0}
    beam = ix.AncfBeam(name, points=points, elements=3, gravity_across="ignore", **{**material, **settings})
    beam.v0[:] = rng.normal(size=beam.size)
    return beam


def skew_natural_body(name: str, mass: float, inertia: np.ndarray, **pose):
    """A body of two points and two vectors, none of them perpendicular to another."""
    points, vectors = ((0.3, -0.2, 0.1), (1.0, 0.5, -0.4)), ((0.2, 1.0, 0.3), (-0.1, 0.4, 1.0))
    return ix.NaturalBody(name, mass, inertia, points=points, vectors=vectors, **pose)


LINES = {"ancf cable": ix.AncfCable, "ancf beam 3d": ix.AncfBeam3D}


def make_line(kind: str, name: str, rng: np.random.Generator, **settings):
    """A soft curved cable or beam in space of two elements, undeformed, with any rates of its coordinates."""
    points = rng.normal(size=3) + np.array(((0.0, 0.0, 0.0), (0.5, 0.2, 0.3), (1.1, 0.3, 0.2), (1.5, 0.1, -0.3)))
    material = {"height": 0.2, "width": 0.3, "young": 30.0, "poisson": 0.3, "density": 20.0}
    body = LINES[kind](name, points=points, elements=2, **{**material, **settings})
    body.v0[:] = rng.normal(size=body.size)
    return body


def make_modal_body(name: str, rng: np.random.Generator) -> ix.ModalBody:
    """Five nodes with a full mass matrix and three shapes that are orthogonal to nothing, deformed and turned."""
    nodes, free = rng.normal(size=(5, 3)), np.eye(30)
    translations = rigid_motions(nodes, np.zeros(3), 6)[:, :3] / np.sqrt(5.0)
    free -= translations @ translations.T
    mass, stiffness = (L @ L.T for L in 0.2 * rng.normal(size=(2, 30, 30)))
    mass = free @ mass @ free + np.diag(np.tile((0.3, 0.3, 0.3, 0.05, 0.1, 0.2), 5))
    rigid = np.linalg.qr(rigid_motions(nodes, np.zeros(3), 6))[0]
    loose = np.eye(30) - rigid @ rigid.T
    body = ix.ModalBody.from_modes(
        name, rng.normal(size=(30, 3)), mass, loose @ stiffness @ loose, nodes, position=rng.normal(size=3),
        orientation=random_rotation(rng), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
    )  # fmt: skip
    body.q0[7:], body.v0[7:] = 0.3 * rng.normal(size=(2, 3))
    body.stiffness[:] = 0.0  # else it would do work beside the forces under test
    return body


def make_linkage(name: str, rng: np.random.Generator) -> ix.NaturalLinkage:
    """A hinged frame, a carrier that shares a point and a vector with it, and a bar: 16 unknowns, 12 rows."""
    linkage = ix.NaturalLinkage(name)
    places = np.array(((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 1))) + 0.1 * rng.normal(size=(5, 3))
    A, B = (linkage.fixed(key, place) for key, place in zip("AB", places[:2], strict=True))
    C, D, F = (linkage.point(key, place) for key, place in zip("CDF", places[2:], strict=True))
    u, v = (linkage.vector(key, np.add(n, 0.1 * rng.normal(size=3))) for key, n in (("u", (0, 0, 1)), ("v", (0, 1, 0))))
    inertia = (0.5, 0.7, 0.9)
    linkage.rigid("frame", [A, B, C, u], mass=1.3, inertia=inertia, centre=rng.normal(size=3))
    linkage.rigid("carrier", [C, D, u, v], mass=0.7, inertia=inertia, centre=rng.normal(size=3))
    linkage.rigid("bar", [D, F], mass=0.4)
    linkage.length("l", A, F)
    return linkage


def ends(model: ix.Model, pair: tuple[str, str], rng: np.random.Generator):
    """Markers at random places on two bodies of the given kinds (or ground)."""
    markers = []
    for k, kind in enumerate(pair):
        body = model.ground if kind == "ground" else model.add(make_body(kind, f"body{k}", rng))
        markers.append(make_marker(body, rng))
    return markers


def make_marker(body, rng: np.random.Generator):
    """A marker at a random place of a body; a point mass has only one place."""
    if isinstance(body, ix.NaturalLinkage):
        return body["carrier"].marker_at(rng.normal(size=3), z=rng.normal(size=3), x=rng.normal(size=3))
    if isinstance(body, NodeChain):
        node, wide = rng.integers(5), bool(rng.integers(2))
        return body.marker(rng.normal(size=3), node=node, z=rng.normal(size=3), x=rng.normal(size=3), wide=wide)
    if isinstance(body, ix.AncfBeam):
        s, y = rng.uniform(0.0, body.length), rng.uniform(-0.1, 0.1)
        return body.marker(s, y, frame=("section", "tangent")[rng.integers(2)], z=rng.normal(size=3))
    if isinstance(body, ix.ModalBody):
        return body.marker(rng.normal(size=3), node=int(rng.integers(5)), z=rng.normal(size=3), x=rng.normal(size=3))
    if isinstance(body, ix.AncfCable):
        return body.marker(rng.uniform(0.0, body.length))
    if isinstance(body, ix.AncfBeam3D):
        s, across = rng.uniform(0.0, body.length), rng.uniform(-0.1, 0.1, size=2)
        return body.marker(s, *across, frame=("section", "tangent")[rng.integers(2)], x=rng.normal(size=3))
    place = np.zeros(3) if body.kind == "point" else rng.normal(size=3)
    return body.marker(place, z=rng.normal(size=3), x=rng.normal(size=3))


class LooseJoint(joints.Joint):
    """A joint made of any primitives, for tests: its rows need not hold."""

    def __init__(self, name, first, second, primitives, measures=()):
        self.name, self.first, self.second, self._primitives = name, first, second, primitives
        if measures:
            self.measures = dict(measures)

    def primitives(self):
        return list(self._primitives)


SCREW = joints.ANGLE | joints.DISPLACEMENT
TURNS = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
LOOP = np.column_stack([3.0 * np.cos(TURNS), 2.5 * np.sin(TURNS), 0.8 * np.sin(2.0 * TURNS)])


def on_curve() -> joints.Primitive:
    """A row of a closed curve in space, large enough that a random point has one nearest point on it."""
    ends = ix.Model().ground.marker(), ix.PointMass("point", 1.0).marker()
    return joints.PointOnCurve("loop", *ends, LOOP, closed=True).primitives()[1]


def curve_coupler() -> joints.Primitive:
    """The displacement of a joint as a wavy function of its own angle."""
    model = ix.Model()
    body = model.add(ix.RigidBody("body", 1.0, (1, 1, 1)))
    joint = ix.Cylindrical("joint", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    turns = np.linspace(-0.3, 2.0 * np.pi - 0.3, 9)  # the third derivative jumps at knots: none where it starts
    pair = ("angle", "displacement")
    made = ix.CurveCoupler("c", joint, joint, turns, 0.3 * np.cos(turns), period=2.0 * np.pi, coordinates=pair)
    fields = made.primitives()[0].fields | {"terms": ((1.0, None, "angle"), (1.0, None, "displacement"))}
    return joints.Primitive("curve_coupler", ("curve",), fields)


PRIMITIVES = {
    "coincident": joints.COINCIDENT,
    "perpendicular": joints.perpendicular(0, 2, 0.3),
    "in_plane": joints.in_plane(1, 0.2),
    "distance": joints.Primitive("distance", ("length",), {"length": 1.3}),
    "rope": joints.Primitive("rope", ("length",), {"length": 1.3, "parts": 1}),
    "angle": joints.Primitive("angle", ("angle",), {"offset": 0.4}),
    "knife_edge": joints.Primitive("knife_edge", ("sideways",), {"axis_second": 1}),
    "coupler": joints.coupler("pitch", ((0.7, None, "displacement"), (-0.4, None, "angle")), 0.1),
    "curve_coupler": curve_coupler(),
    "constant_velocity": joints.Primitive("constant_velocity", ("turn",)),
    "angular_rate": joints.Primitive("angular_rate", ("z1.w",), {"axis_first": 2}),
    "touching": joints.Primitive("touching", ("height",), {"radius": 0.7, "tread": 0.2}),
    "rolling": joints.Primitive("rolling", ("x1.slip",), {"axis_first": 0, "radius": 0.7, "tread": 0.2}),
    "on_curve": on_curve(),
}
PAIRS = [
    ("rigid", "rigid"),
    ("rigid", "ground"),
    ("ground", "rigid"),
    ("planar", "rigid"),
    ("rigid", "planar"),
    ("rigid", "point"),
    ("euler", "euler"),
    ("euler", "planar"),
    ("natural", "natural"),
    ("rigid", "natural"),
    ("natural planar", "euler"),
    ("linkage", "natural"),
    ("node chain", "rigid"),
    ("planar", "node chain"),
    ("ancf beam", "rigid"),
    ("euler", "ancf beam"),
    ("rigid", "ancf cable"),
    ("ancf beam 3d", "rigid"),
    ("modal", "rigid"),
    ("planar", "modal"),
]
WITHOUT_AXES = {"point", "ancf cable"}
POINT_PRIMITIVES = ("coincident", "distance", "in_plane", "on_curve", "rope")


def primitive_model(kind: str, pair: tuple[str, str], seed: int) -> ix.Model:
    """Two bodies tied by one primitive, twice (so that several rows share a kernel)."""
    rng = np.random.default_rng(seed)
    model = ix.Model(f"{kind} {pair}")
    first, second = ends(model, pair, rng)
    measures = SCREW if kind in ("coupler", "curve_coupler") else ()
    one = model.add(LooseJoint("one", first, second, [PRIMITIVES[kind]], measures))
    again = [make_marker(end.body, rng) for end in (first, second)]
    two = model.add(LooseJoint("two", *again, [PRIMITIVES[kind]], measures))
    if kind == "coupler":  # and one of three terms, so of six markers
        model.add(ix.Coupler("three", [(0.3, one, "angle"), (1.1, two, "displacement"), (-0.8, two, "angle")]))
    if kind == "coupler":  # and curves of an angle that turns on and of a displacement
        turns, way = np.linspace(-0.3, 2.0 * np.pi - 0.3, 9), np.linspace(-40.0, 40.0, 30)
        cam = 0.3 * np.cos(turns) + 0.2 * np.sin(2.0 * turns) + 0.1 * turns
        pair = ("angle", "displacement")
        model.add(ix.CurveCoupler("cam", one, two, turns, cam, period=2.0 * np.pi, coordinates=pair))
        model.add(ix.CurveCoupler("rise", two, one, way, np.sin(0.5 * way), coordinates=pair[::-1]))
    if kind == "rope":  # and one over four points
        model.add(ix.Rope("over", [first, again[1], model.ground.marker(rng.normal(size=3)), second]))
    return model


def body_model(kind: str, seed: int) -> ix.Model:
    """Two free bodies of a kind, with gravity."""
    rng = np.random.default_rng(seed)
    model = ix.Model(f"two {kind} bodies", gravity=(1.0, -2.0, -9.0))
    for k in range(2):
        model.add(make_body(kind, f"body{k}", rng))
    return model


def random_state(system: System, seed: int) -> State:
    """A state with random coordinates (unit Euler parameters), rates, accelerations and multipliers."""
    rng = np.random.default_rng(seed)
    state = State(system)
    state.move(0.3, system.q0, rng.normal(size=system.n))
    state[s.A][:] = rng.normal(size=system.n)
    state[s.LAM][:] = rng.normal(size=system.m)
    if system.reads_accelerations:  # as a method whose A belongs to another instant has it
        state[s.A_PAST][:], state[s.SHARE][0] = rng.normal(size=system.n), -0.25
    return state


def own_rows(system: System, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of the bodies' own rows at q, their derivatives by q, and their gamma at the rates of a probe."""
    mine = system.node_of_scalar[system.n :] < system.n_blocks
    probe = system.__dict__.setdefault("probe", None) or State(system)
    system.__dict__["probe"] = probe
    probe.move(0.3, q, probe[s.V])
    assert probe.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    return probe[s.PHI][mine].copy(), blocks(probe, s.PHI_Q)[mine], probe[s.GAMMA][mine].copy()


def tangents(system: System, q: np.ndarray) -> list[np.ndarray]:
    """Directions that span the motions which keep the bodies' own rows, such as |p| = 1."""
    _, jacobian, _ = own_rows(system, q)
    return list(np.eye(system.n) - np.linalg.pinv(jacobian) @ jacobian)


def tangent_rates(state: State) -> np.ndarray:
    """Take from the rates of a state what would change the bodies' own rows; returns them."""
    _, jacobian, _ = own_rows(state.system, state[s.Q])
    state[s.V][:] -= np.linalg.pinv(jacobian) @ (jacobian @ state[s.V])
    return state[s.V].copy()


def step(system: System, q: np.ndarray, direction: np.ndarray, h: float) -> np.ndarray:
    """q + h direction, brought back to the bodies' own rows by the shortest way."""
    moved = q + h * direction
    for _ in range(3):  # from 1e-4 at most: 1e-8, 1e-16
        phi, jacobian, _ = own_rows(system, moved)
        if len(phi):
            moved -= np.linalg.pinv(jacobian) @ phi
    return moved


def bend(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q'' of the path step(q, v, h) at h = 0: what it takes to stay on the bodies' own rows."""
    own_rows(system, q)
    system.__dict__["probe"][s.V][:] = v
    _, jacobian, gamma = own_rows(system, q)
    return np.linalg.pinv(jacobian) @ gamma if len(gamma) else np.zeros(system.n)


def difference(
    state: State, slot, kernels: tuple[Kernel, ...], by: str, direction: np.ndarray, h: float = 1e-6
) -> np.ndarray:
    """Central difference of an array along a direction of q, v, a, lam or q_mass."""
    values = []
    system = state.system
    target = {"q": s.Q, "v": s.V, "a": s.A, "q_mass": s.Q_MASS, "lam": s.LAM}[by]
    base = state[target].copy()
    for sign in (1, -1):
        state[target][:] = (
            base + sign * h * direction if by in ("v", "a", "lam") else step(system, base, direction, sign * h)
        )
        assert state.run(*kernels) == 0
        values.append(state[slot].copy())
    state[target][:] = base
    return (values[0] - values[1]) / (2 * h)


def dense_matrix(state: State, *coefficients: float) -> np.ndarray:
    """The bordered matrix for (c_M, c_Ma, c_K, c_D, c_V, c_R) as a dense array; what is left out is zero."""
    system = state.system
    state[s.COEF][:] = 0.0
    state[s.COEF][: len(coefficients)] = coefficients
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
    size, sparsity = system.n + system.m, system.sparsity
    dense = np.zeros((size, size))
    columns = np.repeat(np.arange(size), np.diff(sparsity.indptr))
    dense[sparsity.indices, columns] = state[s.MATRIX][:-1]
    return dense


def carries_states(system: System, marker: np.void) -> bool:
    """Whether a marker's twist is a block of states."""
    return marker["body"] >= 0 and system.bodies[marker["body"]].kind == "states"


def applied_wrenches(state: State) -> np.ndarray:
    """What forces put on the markers, without the reactions of joints (which loose markers leave unbalanced)."""
    wrench = state[s.MARKER_F].copy()
    for group in state.system.groups:
        shape = (group.rows, len(group.markers), 6)
        gradient = state[s.ROW_G][group.gradient : group.gradient + np.prod(shape, dtype=int)].reshape(shape)
        lam = state[s.LAM][group.row : group.row + group.rows]
        for k, marker in enumerate(group.marker_numbers):
            wrench[marker] += lam @ gradient[:, k]
    for k, marker in enumerate(state[s.MARKERS]):
        if carries_states(state.system, marker):
            wrench[k] = 0.0  # rates
    return wrench


def blocks(state: State, slot) -> np.ndarray:
    """An array of row blocks (PHI_Q and its like) as a dense (m, n) array."""
    dense = np.zeros((state.system.m, state.system.n))
    np.add.at(dense, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[slot])
    return dense
