"""Accelerations and reactions at one instant, against figures of another program and against minimal coordinates."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import index3 as ix

G = np.array((0, 0, -9.80665))
INERTIA = np.full((3, 3), 0.01) + 0.09 * np.eye(3)

# Of body 1, 2, 3, 4 in its own axes at its joint: torque [N m], force [N].
BENT = (
    ((1.647327, 0.783211, 34.088183), (0, 359.274099, 3.342380)),
    ((1.688077, 0.351125, 0), (55.399123, 267.455570, 3.342380)),
    ((0, 0, 0), (-17.757553, 174.663042, -11.383057)),
    ((0.910890, 0.082353, 0), (-13.977214, 74.444715, 4.943682)),
)
MOVING = (
    ((-13.549253, 2.723897, -6.355912), (0, 34.0, -27.088584)),
    ((-10.840395, 0.015039, 0), (-0.440882, -64.0, -27.088584)),
    ((0, 0, 0), (0.692814, -256.0, -27.088584)),
    ((3.276930, -0.281928, 0), (3.796164, -372.0, 21.472977)),
)


def chain(angles, between, rates):
    """A slider along x, and on it three bodies on a pin, a ball and a pin, as Simbody's test has them."""
    model = ix.Model("chain", gravity=(0, -9.8, 0))
    slider = model.add(ix.RigidBody("b1", 10.0, INERTIA, position=(angles[0], 0, 0)))
    model.add(ix.Prismatic("j1", model.ground, slider, at=(angles[0], 0, 0), axis=(1, 0, 0)))
    body, tip, axes, spin, speed = slider, np.array((angles[0] + 0.1, 0.1, 0)), np.eye(3), np.zeros(3), np.zeros(3)
    turns = (Rotation.from_rotvec((0, 0, angles[1])), between, Rotation.from_rotvec((0, 0, angles[2])))
    for k, (turn, own, mass) in enumerate(zip(turns, rates, (20.0, 20.0, 30.0), strict=True), 2):
        axis = axes[:, 2]
        spin, axes = spin + axes @ own, axes @ turn.as_matrix()
        arm = axes @ (0, 0.2, 0)
        speed = speed + np.cross(spin, arm)
        motion = {"position": tip + arm, "orientation": axes, "velocity": speed, "angular_velocity": spin}
        last, body = body, model.add(ix.RigidBody(f"b{k}", mass, INERTIA, **motion))
        if k == 3:
            model.add(ix.Spherical("j3", last, body, at=tip))
        else:
            model.add(ix.Revolute(f"j{k}", last, body, at=tip, axis=axis))
        tip, speed = tip + 2 * arm, speed + np.cross(spin, arm)
    return model


@pytest.mark.parametrize("figures", [BENT, MOVING])
def test_reactions_of_sd_fast(figures):
    """Figures of SD/FAST, printed with six decimals in Simbody's TestMobilizerReactionForces.cpp."""
    if figures is BENT:
        model = chain((1.0, 0.5, -0.5), Rotation.from_euler("ZXY", (0.2, -0.1, 2.0)), np.zeros((3, 3)))
    else:
        model = chain((0.0, 0.0, 0.0), Rotation.identity(), np.array(((0, 0, 1.0), (3, 4, 2), (0, 0, 5))))
    state = ix.assemble(model)
    for k, (torque, force) in enumerate(figures, 1):
        axes = state[f"b{k}"].rotation
        assert axes.T @ state[f"j{k}"].force == pytest.approx(np.array(force), abs=1e-6)  # 5e-7 seen: printed digits
        assert axes.T @ state[f"j{k}"].torque == pytest.approx(np.array(torque), abs=1e-6)


def test_a_ladder_leans_on_a_wall():
    """Reactions of a pin that is driven and of a weld half-way, as in Drake's multibody_plant_reaction_forces_test.cc.

    A torque of 20 N m turns the ladder against the wall; the contact is off its middle plane by y = 0.25 m.
    """
    length, mass, g, torque, y, radius = 2.0, 7.0, 10.0, 20.0, 0.25, 5e-3
    along = np.array((0.5, 0, 0.75**0.5))
    model = ix.Model("ladder", gravity=(0, 0, -g))
    lower = model.add(ix.RigidBody.rod("lower", (0, 0, 0), along, mass / 2))
    upper = model.add(ix.RigidBody.rod("upper", along, length * along, mass / 2))
    pin = model.add(ix.Revolute("pin", model.ground, lower, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Fixed("weld", lower, upper, at=along))
    model.add(ix.Actuator("motor", pin, torque))
    wall = model.ground.marker((length * along[0] + radius, 0, 0), z=(-1, 0, 0))
    touch = (ix.shapes.Sphere(radius), ix.shapes.Plane())
    head = upper.marker_at(length * along + (0, y, 0))
    model.add(ix.Contact("wall", head, wall, touch, stiffness=1e6, exponent=1.0))
    rest = ix.static(model)
    at, centre = rest["wall"].point, (rest["lower"].position + rest["upper"].position) / 2
    push = (torque + centre[0] * mass * g) / at[2]  # moments about the pin
    assert rest["pin"].force == pytest.approx([push, 0, mass * g], abs=1e-8)
    assert rest["pin"].torque == pytest.approx([0, 0, -push * y], abs=1e-8)
    middle = rest.marker(lower.marker_at(along)).position
    bending = -mass / 2 * g * (rest["upper"].position - middle)[0] + push * (at - middle)[2]
    assert rest["weld"].force == pytest.approx([push, 0, mass / 2 * g], abs=1e-8)
    assert rest["weld"].torque == pytest.approx([0, bending, -push * y], abs=1e-8)


def test_a_babyboot_tumbles():
    """A plate on a pendulum: small differences grow a thousandfold; figures of MotionGenesis after 10 s.

    [Kane, J. Mechanical Engineering Education 2 (1974), 45-47], in Drake's MG_chaotic_babyboot_test.cc, whose four
    integrations agree to 7 digits: q_A = -61.31298 and q_B = -929.4779 degrees.
    """
    axes = Rotation.from_euler("x", 90, degrees=True)
    plate = axes * Rotation.from_euler("z", 1, degrees=True)
    model = ix.Model("babyboot", gravity=(0, 0, -9.81))
    a = ix.RigidBody("A", 0.01, (5e-6, 5e-6, 1e-9), position=axes.apply((0, 0, -0.075)), orientation=axes)
    b = ix.RigidBody("B", 0.1, (2.5e-4, 5e-5, 2e-4), position=axes.apply((0, 0, -0.2)), orientation=plate)
    model.add(a), model.add(b)
    model.add(ix.Revolute("qA", model.ground, a, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Revolute("qB", a, b, at=axes.apply((0, 0, -0.2)), axis=axes.apply((0, 0, 1))))
    result = ix.simulate(model, (0.0, 10.0), rtol=1e-11, atol=1e-13, t_eval=10.0)
    assert np.degrees(result["qA"].angle[-1]) + 90 == pytest.approx(-61.3129834, abs=2e-4)
    assert np.degrees(result["qB"].angle[-1]) + 1 == pytest.approx(-929.477897, abs=2e-3)
    assert result["qB"].angle_rate[-1] == pytest.approx(-2.779569, abs=1e-3)


# ---- trees in minimal coordinates: each joint a turn and a shift that its coordinates give; complex numbers pass


def about(axis, angle):
    """The matrix of a turn about a coordinate axis, for complex angles too."""
    c, s, k = np.cos(angle), np.sin(angle), "xyz".index(axis)
    A = np.eye(3, dtype=np.result_type(c))
    i, j = (k + 1) % 3, (k + 2) % 3
    A[i, i], A[i, j], A[j, i], A[j, j] = c, -s, s, c
    return A


def shift(x, y, z):
    return np.array((x, y, z))


PITCH = 0.4
KINDS = {  # joint, number of coordinates, shift and turn of the second marker seen from the first
    "revolute": (ix.Revolute, 1, lambda q: (shift(0, 0, 0), about("z", q[0]))),
    "prismatic": (ix.Prismatic, 1, lambda q: (shift(0, 0, q[0]), np.eye(3))),
    "cylindrical": (ix.Cylindrical, 2, lambda q: (shift(0, 0, q[1]), about("z", q[0]))),
    "planar": (ix.Planar, 3, lambda q: (shift(q[1], q[2], 0), about("z", q[0]))),
    "spherical": (ix.Spherical, 3, lambda q: (shift(0, 0, 0), about("z", q[0]) @ about("x", q[1]) @ about("y", q[2]))),
    "universal": (ix.Universal, 2, lambda q: (shift(0, 0, 0), about("z", q[0]) @ about("x", q[1]))),
    "constant velocity": (
        ix.ConstantVelocity, 2, lambda q: (shift(0, 0, 0), about("z", q[0]) @ about("y", q[1]) @ about("z", -q[0])),
    ),
}  # fmt: skip


class Tree:
    """Bodies on a random tree of joints; equations in the joints' own coordinates (Kane), Jacobians to rounding."""

    def __init__(self, seed, *kinds):
        rng = np.random.default_rng(seed)
        self.kinds = kinds
        counts = [KINDS[kind][1] for kind in kinds]
        self.first = np.concatenate([[0], np.cumsum(counts)])
        self.parent = [-1] + [int(rng.integers(-1, k)) for k in range(1, len(kinds))]
        self.arm, self.out = rng.uniform(-1, 1, (2, len(kinds), 3))
        self.seat, self.foot = (Rotation.random(len(kinds), random_state=rng).as_matrix() for _ in range(2))
        self.mass = rng.uniform(0.5, 3.0, len(kinds))
        size = rng.uniform(0.3, 1.0, (len(kinds), 3))
        self.inertia = [np.diag(s.sum() - s) for s in size]
        self.q, self.u = rng.uniform(0.3, 0.9, self.first[-1]), rng.uniform(-2, 2, self.first[-1])

    def poses(self, q):
        """Of each body: marker on its parent, axes there, own marker, axes, centre, axes."""
        found = []
        for k, kind in enumerate(self.kinds):
            r, A = (np.zeros(3), np.eye(3)) if self.parent[k] < 0 else found[self.parent[k]][4:]
            at, axes = r + A @ self.arm[k], A @ self.seat[k]
            d, turn = KINDS[kind][2](q[self.first[k] : self.first[k + 1]])
            point, end = at + axes @ d, axes @ turn
            found.append((at, axes, point, end, point + end @ self.out[k], end @ self.foot[k]))
        return found

    def jacobians(self, q):
        """Of centres and of turns, (bodies, 3, n) each, by imaginary steps."""
        n = len(q)
        axes = [pose[5] for pose in self.poses(q)]
        V, W = np.zeros((2, len(axes), 3, n))
        for m in range(n):
            for k, pose in enumerate(self.poses(q + 1e-30j * np.eye(n)[m])):
                spin = pose[5].imag / 1e-30 @ axes[k].T
                V[k, :, m] = pose[4].imag / 1e-30
                W[k, :, m] = spin[2, 1], spin[0, 2], spin[1, 0]
        return V, W

    def solve(self, q, u):
        """Accelerations of the coordinates, of the centres, angular accelerations; inertia less weight, its moment."""
        V, W = self.jacobians(q)
        # differences of the Jacobians along u, of fourth order: 1e-10
        h = 1e-4
        steps = [self.jacobians(q + c * h * u) for c in (-2, -1, 1, 2)]
        dV, dW = ((a[i] - 8 * b[i] + 8 * c[i] - d[i]) / (12 * h) @ u for i in (0, 1) for a, b, c, d in [steps])
        M, f, J = 0.0, 0.0, [p[5] @ j @ p[5].T for p, j in zip(self.poses(q), self.inertia, strict=True)]
        for k, mass in enumerate(self.mass):
            w = W[k] @ u
            M = M + mass * V[k].T @ V[k] + W[k].T @ J[k] @ W[k]
            f = f + V[k].T @ (mass * (G - dV[k])) - W[k].T @ (J[k] @ dW[k] + np.cross(w, J[k] @ w))
        a = np.linalg.solve(M, f)
        moments = [J[k] @ (W[k] @ a + dW[k]) + np.cross(W[k] @ u, J[k] @ (W[k] @ u)) for k in range(len(J))]
        centres = V @ a + dV
        return a, centres, W @ a + dW, self.mass[:, None] * (centres - G), np.array(moments)

    def model(self):
        """The same for index3."""
        model, bodies, (V, W) = ix.Model("tree"), [], self.jacobians(self.q)
        for k, (at, axes, point, end, r, A) in enumerate(self.poses(self.q)):
            motion = {"velocity": V[k] @ self.u, "angular_velocity": W[k] @ self.u}
            body = ix.RigidBody(f"b{k}", self.mass[k], self.inertia[k], position=r, orientation=A, **motion)
            bodies.append(model.add(body))
            below = model.ground if self.parent[k] < 0 else bodies[self.parent[k]]
            z, x = (end[:, 0], end[:, 2]) if self.kinds[k] == "universal" else (end[:, 2], end[:, 0])
            ends = below.marker_at(at, z=axes[:, 2], x=axes[:, 0]), body.marker_at(point, z=z, x=x)
            model.add(KINDS[self.kinds[k]][0](f"j{k}", *ends))
        return model

    def above(self, k):
        """A body and all that it carries."""
        carried = {k}
        for m in range(k + 1, len(self.kinds)):
            carried |= {m} if self.parent[m] in carried else set()
        return sorted(carried)


@pytest.mark.parametrize(
    "kinds",
    [
        ("revolute", "prismatic", "spherical"),
        ("cylindrical", "universal", "revolute"),
        ("planar", "constant velocity", "cylindrical"),
        ("universal", "planar", "prismatic", "revolute"),
        ("spherical", "constant velocity", "universal"),
    ],
)
def test_trees_against_minimal_coordinates(kinds):
    tree = Tree(7, *kinds)
    model = tree.model()
    state = ix.assemble(model)
    _, centres, turns, forces, moments = tree.solve(tree.q, tree.u)
    poses = tree.poses(tree.q)
    for k in range(len(kinds)):
        assert state[f"b{k}"].acceleration == pytest.approx(centres[k], abs=1e-7)  # 1e-9 of up to 100: differences
        assert state[f"b{k}"].angular_acceleration == pytest.approx(turns[k], abs=1e-7)
        carried = tree.above(k)
        force = forces[carried].sum(axis=0)
        torque = sum(moments[m] + np.cross(poses[m][4] - poses[k][2], forces[m]) for m in carried)
        assert state[f"j{k}"].force == pytest.approx(force, abs=1e-6)
        assert state[f"j{k}"].torque == pytest.approx(torque, abs=1e-6)
    n, end = len(tree.q), 0.3
    run = solve_ivp(
        lambda t, y: np.concatenate([y[n:], tree.solve(y[:n], y[n:])[0]]), (0, end), np.concatenate([tree.q, tree.u]),
        method="DOP853", rtol=1e-8, atol=1e-10,
    )  # fmt: skip
    result = ix.simulate(model, (0.0, end), rtol=1e-9, t_eval=end)
    for k, pose in enumerate(tree.poses(run.y[:n, -1])):
        assert result[f"b{k}"].position[-1] == pytest.approx(pose[4], abs=1e-6)
