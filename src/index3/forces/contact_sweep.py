"""Whether the shapes of a contact met and parted, or pushed, between the two ends of a step; helpers and a kernel.

Forces are evaluated at the ends of a step and at a few points inside. A pellet that is before a ball at one of them and
behind it at the next has felt nothing, and no error test knows. So each accepted state is kept (START_...), and of a
trial the way of one shape as the other sees it is looked at: a cubic by places and velocities at both ends.

e is the vector whose length is the distance of two shapes, but for their radii: between centres of balls, from an axis
to a centre; of a strip x and z of the centre in its own axes, of a block x, y and z. Planes and hollow cylinders are
never passed: all that is behind their surface touches. But what is before it at both ends may have been behind it in
between, at the lowest point of a swing: there the gap itself is taken as a cubic.
"""

from __future__ import annotations

from index3.algebra.vectors import add, cross, dot, load, load_at, norm, put_at, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.constraints.rows import axis
from index3.forces.contact_geometry import block_sides, disc, disc_rate, in_axes
from index3.forces.contact_table import (
    BLOCK,
    BOUNDS,
    CYLINDER,
    ENDLESS,
    MARGIN,
    MARKS,
    NEAR,
    NEAR_COUNT,
    PAIRS,
    PLANE,
    POINTS,
    SEEN,
    SPHERE,
    SPROCKET,
    START_A,
    START_R,
    START_V,
    STRIP,
    TIES,
)
from index3.forces.force import next_switches, turned
from index3.forces.sweep import (
    SHALLOW,
    bend_of,
    dip,
    distance,
    distance_rate,
    doubt,
    landing,
    pushes_again,
    surely_apart,
)

NO_SIDES = (0.0, 0.0, 0.0)
TURN = 1.0
"""Angle [rad] in a step up to which a cubic follows a point that goes round."""


@helper
def endless(surface):
    """The axis of the second shape's marker along which its surface does not end."""
    return 1 if surface == STRIP else 2


@helper
def across(A, V, j, k, d, dd):
    """d without its part along axis k of marker j, and its rate; dd is the rate of d."""
    a = axis(A, j, k)
    da = cross(load_at(V, j, 3), a)
    e = sub(d, scale(dot(a, d), a))
    return e, sub(dd, add(scale(dot(da, d) + dot(a, dd), a), scale(dot(a, d), da)))


@helper
def apart(r, A, V, i, j, place, surface):
    """e and its rate of a point of the first shape, on marker i, and the second shape, on marker j."""
    x = turned(A, i, place)
    d = sub(add(load(r, i), x), load(r, j))
    dd = sub(add(load_at(V, i, 0), cross(load_at(V, i, 3), x)), load_at(V, j, 0))
    if surface == SPHERE:
        return d, dd
    if surface == BLOCK:
        return in_axes(A, j, d), in_axes(A, j, sub(dd, cross(load_at(V, j, 3), d)))
    if surface != STRIP:
        return across(A, V, j, 2, d, dd)
    x, z, w = axis(A, j, 0), axis(A, j, 2), load_at(V, j, 3)
    of_x, of_z = dot(cross(w, x), d) + dot(x, dd), dot(cross(w, z), d) + dot(z, dd)
    return (dot(x, d), 0.0, dot(z, d)), (of_x, 0.0, of_z)


@helper
def turn_of(first, last, i, m, h):
    """How far a marker turns in a step: by its larger angular velocity, V[i] at the start and V[m] at the end."""
    return h * max(norm(load_at(first, i, 3)), norm(load_at(last, m, 3)))


@helper
def blur(T, E, pair, ties, h):
    """How far points may be from their cubics because they go round by more than TURN; and that turn."""
    V0, V1, local, i, j = view(E, START_V), view(T, s.MARKER_V), view(T, s.LOCAL_R), pair.i, pair.j
    far, most = 0.0, 0.0
    turn = turn_of(V0, V1, ties[0], i, h)
    if turn > TURN:
        arm = norm(load(local, i))
        for k in range(pair.first, pair.first + pair.count):
            x = view(E, POINTS)[k].place
            arm = max(arm, norm(load(local, i)) + norm((x[0], x[1], x[2])))
        if arm > 0.0:
            far, most = far + 2.0 * arm, turn
    turn = turn_of(V0, V1, ties[1], j, h)
    if turn > TURN:
        arm = norm(load(local, j))
        if pair.surface != SPHERE:
            a, w0, w1 = axis(view(T, s.MARKER_A), j, 2), load_at(V0, ties[1], 3), load_at(V1, j, 3)
            tips = h * max(norm(cross(a, w0)), norm(cross(a, w1))) > TURN
            arm += pair.reach if pair.surface == STRIP or pair.surface == BLOCK or tips else 0.0
        if arm > 0.0:
            far, most = far + 2.0 * arm, max(most, turn)
    return far, most


@helper
def part_of_pair(T, E, pair, ties, h, room):
    """The part of the step to try instead because of a pair, or 1."""
    r0, A0, V0 = view(E, START_R), view(E, START_A), view(E, START_V)
    r1, A1, V1, points = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V), view(E, POINTS)
    i, j, surface, part = pair.i, pair.j, pair.surface, 1.0
    far, turn = blur(T, E, pair, ties, h)
    sure = view(T, s.SWEEP)[s.SWEEP_SURE] == 1.0
    if turn > 0.0 and sure:
        return 1.0
    if turn > 0.0:  # nobody can say: not in a step this long, unless all is far away
        d0, d1 = sub(load(r0, ties[0]), load(r0, ties[1])), sub(load(r1, i), load(r1, j))
        v0 = sub(load_at(V0, ties[0], 0), load_at(V0, ties[1], 0))
        v1 = sub(load_at(V1, i, 0), load_at(V1, j, 0))
        if surface != SPHERE and surface != BLOCK:
            d0, v0 = across(A0, V0, ties[1], endless(surface), d0, v0)
            d1, v1 = across(A1, V1, j, endless(surface), d1, v1)
        return 1.0 if surely_apart(d0, scale(h, v0), d1, scale(h, v1), NO_SIDES, pair.reach + far) else TURN / turn
    half, bare = NO_SIDES, surface in (STRIP, BLOCK)
    if bare:
        half = block_sides(pair)  # of a strip its length alone
    for k in range(pair.first, pair.first + pair.count):
        x = points[k].place
        place = (x[0], x[1], x[2])
        e0, v0 = apart(r0, A0, V0, ties[0], ties[1], place, surface)
        e1, v1 = apart(r1, A1, V1, i, j, place, surface)
        reach = (0.0 if surface == SPROCKET else points[k].radius) + (0.0 if bare else pair.radius)
        m0, m1, graze = scale(h, v0), scale(h, v1), min(room, SHALLOW * reach)
        unsure = doubt(e0, m0, e1, m1)
        part = min(part, landing(e0, m0, e1, m1, half, reach, max(graze, unsure) if sure else graze))
        g0 = distance(e0, half) - reach
        if g0 < 0.0 and pair.onset > 0.0 and not sure:
            g1 = distance(e1, half) - reach
            again = pushes_again(pair, g0, distance_rate(e0, m0, half), g1, distance_rate(e1, m1, half), h, room)
            part = min(part, again)
        if not sure and part == 1.0 and unsure > graze and landing(e0, m0, e1, m1, half, reach + unsure, 0.0) < 1.0:
            part = 0.5
    return part


@helper
def gap(r, A, V, i, j, pair, point):
    """Distance of a point from a plane or the cylinder around it, and its rate; place of the point, and its rate."""
    x = point.place
    d, dd = apart(r, A, V, i, j, (x[0], x[1], x[2]), SPHERE if pair.surface == PLANE else CYLINDER)
    if pair.surface != PLANE:
        far = norm(d)
        return pair.radius - point.radius - far, -dot(d, dd) / far if far > 0.0 else 0.0, d, dd
    n, a, support, rate = axis(A, j, 2), axis(A, i, 2), 1.0, 0.0
    dn = cross(load_at(V, j, 3), n)
    if point.disc == 1:
        support, rate = disc(n, a)[0], disc_rate(n, a, dn, cross(load_at(V, i, 3), a))[0]
    return dot(n, d) - point.radius * support, dot(dn, d) + dot(n, dd) - point.radius * rate, d, dd


@helper
def part_of_gap(T, E, pair, ties, h, room):
    """The part of the step to try instead because a pair touched inside it that is apart at both ends, or 1."""
    r0, A0, V0, part = view(E, START_R), view(E, START_A), view(E, START_V), 1.0
    r1, A1, V1, points = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V), view(E, POINTS)
    far, turn = blur(T, E, pair, ties, h) if pair.surface == PLANE else (0.0, 0.0)
    sure = view(T, s.SWEEP)[s.SWEEP_SURE] == 1.0
    for k in range(pair.first, pair.first + pair.count):
        point = points[k]
        g0, v0, e0, m0 = gap(r0, A0, V0, ties[0], ties[1], pair, point)
        g1, v1, e1, m1 = gap(r1, A1, V1, pair.i, pair.j, pair, point)
        size = pair.reach if pair.surface == PLANE else abs(pair.radius - point.radius)
        if not sure and turn > 0.0 and min(g0, g1) > 0.0 and min(g0, g1) < far:
            part = min(part, TURN / turn)
        unsure, graze = doubt(e0, scale(h, m0), e1, scale(h, m1)), min(room, SHALLOW * size)
        part = min(part, dip(g0, h * v0, g1, h * v1, max(graze, unsure) if sure else graze, unsure))
        if not sure:
            part = min(part, pushes_again(pair, g0, h * v0, g1, h * v1, h, room))
    return part


@helper
def keep_start(T, E):
    """Let T's state be the start of the next step."""
    marks, r, A, V = view(E, MARKS), view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V)
    r0, A0, V0 = view(E, START_R), view(E, START_A), view(E, START_V)
    for k in range(marks.shape[0]):
        m = marks[k]
        put_at(r0, k, 0, load(r, m))
        for at in range(9):
            A0[k, at] = A[m, at]
        for at in range(6):
            V0[k, at] = V[m, at]


@helper
def list_holds(T, E, h):
    """Whether the list of near pairs holds for the whole step: no marker leaves half the margin on its way."""
    marks, seen, half = view(E, MARKS), view(E, SEEN), 0.5 * view(E, MARGIN)[0]
    r0, V0, r, V, holds = view(E, START_R), view(E, START_V), view(T, s.MARKER_R), view(T, s.MARKER_V), True
    for k in range(marks.shape[0]):
        x0, x1 = load(r0, k), load(r, marks[k])
        bend = bend_of(x0, scale(h, load_at(V0, k, 0)), x1, scale(h, load_at(V, marks[k], 0)))
        farthest = max(norm(sub(x0, load(seen, k))), norm(sub(x1, load(seen, k)))) + 4.0 / 27.0 * bend
        holds = holds and farthest < half
    return holds


@helper
def ends_apart(T, E, bound, ties, h):
    """Whether balls, or a ball and a block, stay apart for sure, by their markers; all others are asked."""
    if bound.surface != SPHERE and bound.surface != BLOCK:
        return False
    r0, V0, r, V = view(E, START_R), view(E, START_V), view(T, s.MARKER_R), view(T, s.MARKER_V)
    d0, d1 = sub(load(r0, ties[0]), load(r0, ties[1])), sub(load(r, bound.i), load(r, bound.j))
    v0 = sub(load_at(V0, ties[0], 0), load_at(V0, ties[1], 0))
    v1 = sub(load_at(V, bound.i, 0), load_at(V, bound.j, 0))
    local = view(T, s.LOCAL_R)
    arms = 2.0 * (norm(load(local, bound.i)) + norm(load(local, bound.j)))
    return surely_apart(d0, scale(h, v0), d1, scale(h, v1), NO_SIDES, bound.reach + arms)


@kernel
def passes(T, E):
    """Whether a pair met and parted in the step that ends at T's state, or keep that state as a start: SWEEP."""
    pairs, bounds, ties, chosen = view(E, PAIRS), view(E, BOUNDS), view(E, TIES), view(E, NEAR)
    sweep, at = view(T, s.SWEEP), next_switches(T, pairs.shape[0])
    h, room = sweep[s.SWEEP_H], sweep[s.SWEEP_ROOM]
    if h == 0.0:
        keep_start(T, E)
        return OK
    listed = list_holds(T, E, h)
    for m in range(view(E, NEAR_COUNT)[0] if listed else pairs.shape[0]):
        e = chosen[m] if listed else m
        part = 1.0
        if bounds[e].surface == PLANE or bounds[e].reach >= ENDLESS:
            part = part_of_gap(T, E, pairs[e], ties[e], h, room)
        elif not ends_apart(T, E, bounds[e], ties[e], h):
            part = part_of_pair(T, E, pairs[e], ties[e], h, room)
        if part < sweep[s.SWEEP_PART]:
            sweep[s.SWEEP_PART], sweep[s.SWEEP_RECORD] = part, at + e
    return OK
