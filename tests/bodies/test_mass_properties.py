"""Bodies from point masses, triangle meshes and other bodies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

# Sums of a few products of numbers of size 1: rounding 1e-15, with a margin.
ROUNDING = 1e-12


def box_mesh(size, centre=(0, 0, 0)):
    """Corners and outward faces of a box."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size + centre
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6),
             (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    return corners, np.array(faces)


def test_points():
    rng = np.random.default_rng(4)
    points, masses = rng.normal(size=(6, 3)), rng.uniform(1, 2, size=6)
    body = ix.RigidBody.from_points("cloud", points, masses, velocity=(1, 2, 3))
    assert body.mass == pytest.approx(masses.sum(), rel=ROUNDING)
    centre = masses @ points / masses.sum()
    np.testing.assert_allclose(body.q0, [*centre, 1, 0, 0, 0], atol=ROUNDING)
    expected = sum(m * ((d @ d) * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, points - centre, strict=True))
    np.testing.assert_allclose(body.inertia, expected, atol=ROUNDING)
    assert body.v0[:3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", [ix.RigidBody, ix.EulerAngleBody, ix.NaturalBody])
def test_mesh_of_a_box_is_the_box(kind):
    """Also far from the mesh's origin, turned and in any kind of coordinates."""
    size, far = np.array((0.3, 0.5, 0.7)), np.array((10.0, -20.0, 5.0))
    p = np.array((0.8, 0.0, 0.6, 0.0))
    vertices, faces = box_mesh(size, far)
    body = kind.from_mesh("box", vertices, faces, 800.0, position=(1, 2, 3), orientation=p)
    box = ix.RigidBody.box("same", size, density=800.0, orientation=p)
    assert body.mass == pytest.approx(box.mass, rel=ROUNDING)
    np.testing.assert_allclose(body.inertia, box.inertia, rtol=1e-10, atol=1e-10)  # 1e3 of size^2 are lost to `far`
    np.testing.assert_allclose(body.pose()[0], (1, 2, 3) + box.pose()[1] @ far, atol=1e-11)
    np.testing.assert_allclose(body.pose()[1], box.pose()[1], atol=ROUNDING)


def test_mesh_of_a_tetrahedron():
    """Against the integrals over the simplex: V = 1/6, first moments 1/24, x^2: 1/60, x y: 1/120."""
    vertices, faces = np.vstack([np.zeros(3), np.eye(3)]), [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    body = ix.RigidBody.from_mesh("corner", vertices, faces, 6.0)
    assert body.mass == pytest.approx(1.0, rel=ROUNDING)
    np.testing.assert_allclose(body.q0[:3], 0.25, atol=ROUNDING)
    second = 6.0 * (np.eye(3) / 60 + (1 - np.eye(3)) / 120) - 0.0625
    np.testing.assert_allclose(body.inertia, np.trace(second) * np.eye(3) - second, atol=ROUNDING)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v, f: (v, f[:-1]), "open mesh"),
        (lambda v, f: (v, f[:, ::-1]), "inside out"),
        (lambda v, f: (v, np.vstack([f[:-1], f[-1:, ::-1]])), "are not oriented consistently"),
        (lambda v, f: (v * (1, 1, 0), f), "no volume"),
        (lambda v, f: (v, f + 1), "does not exist"),
        (lambda v, f: (v[:, :2], f), "vertices"),
        (lambda v, f: (v, f + 0.5), "faces"),
        (lambda v, f: (v * np.nan, f), "finite"),
        (lambda v, f: (v, f[:2]), "open"),
    ],
)
def test_bad_meshes_are_refused_by_name(change, words):
    with pytest.raises(ModelError, match=f"RigidBody 'box'.*{words}"):
        ix.RigidBody.from_mesh("box", *change(*box_mesh((1, 1, 1))), 1000.0)


def test_parts_give_the_whole():
    """Two halves of a box, one turned end to end, are the box; a point mass is one more part."""
    halves = [
        ix.RigidBody.box("left", (0.5, 0.3, 0.2), 1.0, position=(-0.25, 1, 0)),
        ix.RigidBody.box("right", (0.3, 0.5, 0.2), 1.0, position=(0.25, 1, 0), orientation=(0.5**0.5, 0, 0, 0.5**0.5)),
    ]
    whole = ix.RigidBody.from_parts("whole", halves, angular_velocity=(0, 0, 1))
    box = ix.RigidBody.box("box", (1.0, 0.3, 0.2), 2.0)
    assert whole.mass == 2.0
    np.testing.assert_allclose(whole.inertia, box.inertia, atol=ROUNDING)
    np.testing.assert_allclose(whole.q0[:3], (0, 1, 0), atol=ROUNDING)
    more = ix.RigidBody.from_parts("more", [whole, ix.PointMass("bob", 2.0, position=(0, 1, 2))])
    np.testing.assert_allclose(more.q0[:3], (0, 1, 1), atol=ROUNDING)
    np.testing.assert_allclose(more.inertia - box.inertia, np.diag((4.0, 4.0, 0.0)), atol=ROUNDING)


@pytest.mark.parametrize(
    ("parts", "words"),
    [([], "Give a list of bodies"), (3, "Give a list of bodies"), (["bob"], "cannot be made of 'bob'"),
     ([ix.PlanarBody("p", 1.0, 1.0)], "cannot be made of")],
)  # fmt: skip
def test_bad_parts_are_refused(parts, words):
    with pytest.raises(ModelError, match=f"RigidBody 'b'.*{words}"):
        ix.RigidBody.from_parts("b", parts)


def test_parts_of_a_model_are_refused():
    model = ix.Model()
    part = model.add(ix.PointMass("bob", 1.0))
    with pytest.raises(ModelError, match="RigidBody 'b' is made of PointMass 'bob', which is in a model"):
        ix.RigidBody.from_parts("b", [part])


@pytest.mark.parametrize(
    ("points", "masses", "words"),
    [([], [], "points"), ([(0, 0)], [1], "points"), ([(0, 0, 0)], [1, 2], "one mass"), ([(0, 0, 0)], [-1], "positive"),
     ("x", [1], "numbers"), ([(0, 0, np.inf)], [1], "finite")],
)  # fmt: skip
def test_bad_points_are_refused(points, masses, words):
    with pytest.raises(ModelError, match=f"RigidBody 'b'.*{words}"):
        ix.RigidBody.from_points("b", points, masses)


def test_a_mesh_file_gives_the_same_body_and_is_drawn(tmp_path):
    corners = np.array([(0, 0, 0), (600, 0, 0), (0, 600, 0), (0, 0, 600)], float)  # mm
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (tmp_path / "wedge.obj").write_text("\n".join(lines))
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    trimesh.Trimesh(corners, faces).export(tmp_path / "wedge.stl")
    wanted = ix.RigidBody.from_mesh("wedge", corners / 1000, faces, 500.0)
    for name in ("wedge.obj", "wedge.stl"):
        body = ix.RigidBody.from_mesh("wedge", tmp_path / name, density=500.0, scale=0.001)
        assert body.mass == pytest.approx(500.0 * 0.6**3 / 6, rel=1e-6)  # STL holds single precision
        np.testing.assert_allclose(body.inertia, wanted.inertia, rtol=1e-6)
        drawn = np.array(body.shape["vertices"]) + body.q0[:3]
        assert sorted(map(tuple, drawn.round(6).tolist())) == sorted(map(tuple, (corners / 1000).tolist()))
        assert len(body.shape["faces"]) == 4


def test_bad_mesh_files_are_refused(tmp_path):
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    (tmp_path / "words.stl").write_text("these are words")
    for name in ("words.stl", "missing.obj", "what.xyzw"):
        with pytest.raises(ModelError, match=r"RigidBody 'b' .*Give an STL or OBJ file"):
            ix.RigidBody.from_mesh("b", str(tmp_path / name), density=1.0)


def test_colours_are_checked_and_kept(tmp_path):
    model = ix.Model("paint")
    body = model.add(ix.RigidBody.box("crate", (1, 1, 1), mass=1.0))
    body.color = (1.0, 0.5, 0.0)
    assert body.color == "#ff8000"
    with pytest.raises(ModelError, match=r"RigidBody 'crate' has color 'mauve'"):
        body.color = "mauve"
    model.save(tmp_path / "paint.toml")
    assert ix.Model.load(tmp_path / "paint.toml")["crate"].color == "#ff8000"
    assert ix.simulate(model, (0, 0.1)).layout.bodies[0]["color"] == "#ff8000"
