"""Kernels of tyres: vertical force, slip forces and moments at the contact patch, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from index3.algebra.vectors import add, add_at, cross, dot, load, load_at, put_at, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.rows import axis
from index3.forces.contact_kernels import NOTHING, subtract_column, unit_part
from index3.forces.contact_law import normal_force
from index3.forces.force import Place, next_switches
from index3.forces.road import FLAT, ROAD_FIELDS
from index3.forces.tyre_geometry import (
    directions,
    directions_rate,
    meet_road,
    meet_road_rate,
    velocities,
    velocities_by_place,
    velocities_by_twist,
)
from index3.forces.tyre_slip import patch_forces, patch_forces_rate
from index3.forces.tyre_sweep import part_of_road, place_on_road

TYRE = np.dtype(
    [
        ("i", "i8"),  # wheel
        ("j", "i8"),  # road
        ("k", "i8"),  # deflections of the patch, -1 if slips act at once
        ("stiffness_at", "i8"),  # first place in GROUP_K and GROUP_D
        ("width", "i8"),  # of these, 6 per marker
        ("radius", "f8"),
        ("stiffness", "f8"),
        ("exponent", "f8"),
        ("damping", "f8"),
        ("onset", "f8"),
        ("pulls", "i8"),  # 1: a spring and damper also above the road
        ("sloped", "f8"),  # 0: only the height of the road counts
        ("cambered", "f8"),  # 0: the wheel is a ball
        ("slips", "i8"),  # 0: vertical force alone
        ("longitudinal_stiffness", "f8"),
        ("cornering_stiffness", "f8"),
        ("friction", "f8"),
        ("sliding_friction", "f8"),
        ("patch", "f8"),
        ("resistance", "f8"),
        ("low_speed", "f8"),
        ("relaxation_x", "f8"),
        ("relaxation_y", "f8"),
        *ROAD_FIELDS,
    ]
)
TYRES, KNOTS, REPORT, START = slots(
    tyres=(TYRE, 1),
    knots=("f8", 2),
    report=("f8", 2),  # per tyre what REPORTED names
    start=("f8", 2),  # per tyre `place_on_road` at the last accepted state
)
MEMORY = (START,)
REPORTED = {
    "deflection": ("m", slice(0, 1)),
    "vertical": ("N", slice(1, 2)),
    "longitudinal": ("N", slice(2, 3)),
    "lateral": ("N", slice(3, 4)),
    "force": ("N", slice(4, 7)),
    "torque": ("N m", slice(7, 10)),
    "point": ("m", slice(10, 13)),
}
FLAT_ON_ITS_SIDE = 0.999
"""Square of the cosine between spin axis and road normal at which a wheel has no plane that meets the road."""


def table(elements: Sequence[Any], places: Sequence[Place]) -> Table:
    """The table of all tyres of a system."""
    rows: list[tuple] = []
    knots: list[tuple[float, float, float]] = []
    for element, place in zip(elements, places, strict=True):
        i, j, k = (*place.markers, -1)[:3]
        head = (i, j, k, place.stiffness, 6 * len(place.markers))
        rows.append((*head, *element.record(place), *element.road.record(len(knots))))
        knots += element.road.knots
    return filled(rows, knots)


def filled(rows: Sequence[tuple], knots: Sequence[Any]) -> Table:
    """A table of these rows."""
    result = Table(4)
    result[TYRES] = np.array(rows, TYRE).view(np.recarray)
    result[KNOTS] = np.array(knots, float).reshape(-1, 3)
    result[REPORT], result[START] = np.zeros((len(rows), 13)), np.zeros((len(rows), 3))
    return result


def restored(law: dict[str, Any]) -> Table:
    """The table of a tyre as its `law` describes it, its markers numbered from 0."""
    return filled([tuple(law["row"])], law["knots"])


@helper
def vertical(tyre, delta, rate):
    """(F, dF/ddelta, dF/drate) of spring and damper."""
    if tyre.pulls == 1:
        return tyre.stiffness * delta + tyre.damping * rate, tyre.stiffness, tyre.damping
    if delta <= 0.0:
        return 0.0, 0.0, 0.0
    F, by_delta, by_rate, _ = normal_force(tyre, delta, rate)
    return F, by_delta, by_rate


@helper
def regular(x, low):
    """sqrt(x^2 + low^2)."""
    return sqrt(x * x + low * low)


@helper
def slips(T, tyre, sx, sy, speed):
    """(kappa, tau): of the sliding velocities at once, or of the deflections that follow them."""
    if tyre.k < 0:
        return -sx / speed, -sy / speed
    V = view(T, s.MARKER_V)
    return V[tyre.k, 0] / tyre.relaxation_x, V[tyre.k, 1] / tyre.relaxation_y


@helper
def load_of(T, tyre, delta, n, c):
    """Force on the wheel at c, moment, and rates of the deflections."""
    u, uc = velocities(T, tyre, c)
    F, _, _ = vertical(tyre, delta, -dot(n, u))
    force, moment, rate_x, rate_y = scale(F, n), NOTHING, 0.0, 0.0
    if tyre.slips == 1:
        ex, ey = directions(T, tyre, n)
        x, sx, sy = dot(ex, uc), dot(ex, u), dot(ey, u)
        speed = regular(x, tyre.low_speed)
        kappa, tau = slips(T, tyre, sx, sy, speed)
        rate_x, rate_y = -speed * kappa, -speed * tau
        if F > 0.0:
            rate_x -= sx
            rate_y -= sy
            Fx, Fy, trail = patch_forces(tyre, F, kappa, tau)
            force = add(force, add(scale(Fx, ex), scale(Fy, ey)))
            rolling = (x - sx) / regular(x - sx, tyre.low_speed)
            resisting = tyre.resistance * F * (tyre.radius - delta) * rolling
            moment = sub(scale(-trail * Fy * x / speed, n), scale(resisting, ey))
    return force, moment, rate_x, rate_y


@helper
def moment_rate(tyre, F, rho, n, ey, x, sx, speed, Fy, trail, dF, drho, dn, dey, dx, dsx, dspeed, dFy, dtrail):
    """Change of the aligning moment and the rolling resistance."""
    ratio, dratio = x / speed, (dx - x * dspeed / speed) / speed
    aligning = -trail * Fy * ratio
    daligning = -(dtrail * Fy + trail * dFy) * ratio - trail * Fy * dratio
    turning = regular(x - sx, tyre.low_speed)
    rolling, drolling = (x - sx) / turning, (dx - dsx) * tyre.low_speed * tyre.low_speed / (turning**3)
    resisting = tyre.resistance * F * rho * rolling
    dresisting = tyre.resistance * ((dF * rho + F * drho) * rolling + F * rho * drolling)
    change = add(scale(daligning, n), scale(aligning, dn))
    return sub(change, add(scale(dresisting, ey), scale(resisting, dey)))


@helper
def load_rate(T, tyre, delta, n, c, ddelta, dn, dex, dey, du, duc, deflection_x, deflection_y):
    """Changes of `load_of` with the place, directions, velocities and deflections."""
    u, uc = velocities(T, tyre, c)
    F, by_delta, by_rate = vertical(tyre, delta, -dot(n, u))
    dF = by_delta * ddelta - by_rate * (dot(dn, u) + dot(n, du))
    force, moment, rate_x, rate_y = add(scale(dF, n), scale(F, dn)), NOTHING, 0.0, 0.0
    if tyre.slips == 1:
        ex, ey = directions(T, tyre, n)
        x, sx, sy = dot(ex, uc), dot(ex, u), dot(ey, u)
        dx, dsx, dsy = dot(dex, uc) + dot(ex, duc), dot(dex, u) + dot(ex, du), dot(dey, u) + dot(ey, du)
        speed = regular(x, tyre.low_speed)
        dspeed = x * dx / speed
        kappa, tau = slips(T, tyre, sx, sy, speed)
        if tyre.k < 0:
            dkappa, dtau = -(dsx + kappa * dspeed) / speed, -(dsy + tau * dspeed) / speed
        else:
            dkappa, dtau = deflection_x / tyre.relaxation_x, deflection_y / tyre.relaxation_y
        rate_x, rate_y = -dspeed * kappa - speed * dkappa, -dspeed * tau - speed * dtau
        if F > 0.0:
            rate_x -= dsx
            rate_y -= dsy
            Fx, Fy, trail = patch_forces(tyre, F, kappa, tau)
            dFx, dFy, dtrail = patch_forces_rate(tyre, F, kappa, tau, dF, dkappa, dtau)
            force = add(force, add(scale(dFx, ex), scale(Fx, dex)))
            force = add(force, add(scale(dFy, ey), scale(Fy, dey)))
            moment = moment_rate(
                tyre, F, tyre.radius - delta, n, ey, x, sx, speed, Fy, trail,
                dF, -ddelta, dn, dey, dx, dsx, dspeed, dFy, dtrail,
            )  # fmt: skip
    return force, moment, rate_x, rate_y


@helper
def lies_flat(T, tyre, n):
    """Whether the wheel has no plane that meets the road, though it needs one."""
    q = dot(n, axis(view(T, s.MARKER_A), tyre.i, 2))
    return (tyre.slips == 1 or tyre.cambered > 0.0) and not q * q < FLAT_ON_ITS_SIDE  # also where q is not a number


@kernel
def forces(T, E):
    """Put the forces of all tyres on wheels and roads, and give deflections their rates."""
    tyres, knots, r, f = view(E, TYRES), view(E, KNOTS), view(T, s.MARKER_R), view(T, s.MARKER_F)
    for e in range(tyres.shape[0]):
        tyre = tyres[e]
        delta, n, c = meet_road(T, tyre, knots)
        if lies_flat(T, tyre, n):
            return e + 1
        F, M, rate_x, rate_y = load_of(T, tyre, delta, n, c)
        i, j = tyre.i, tyre.j
        add_at(f, i, 0, F)
        add_at(f, i, 3, add(M, cross(sub(c, load(r, i)), F)))
        add_at(f, j, 0, scale(-1.0, F))
        add_at(f, j, 3, scale(-1.0, add(M, cross(sub(c, load(r, j)), F))))
        if tyre.k >= 0:
            f[tyre.k, 0] += rate_x
            f[tyre.k, 1] += rate_y
    return OK


@helper
def subtract_change(tyre, group, column, dF, ti, tj, rate_x, rate_y):
    """Subtract the changes of both wrenches and of the deflections' rates from a column of a group's matrix."""
    first, width = tyre.stiffness_at, tyre.width
    subtract_column(group, first, width, column, dF, ti, tj)
    if tyre.k >= 0:
        group[first + 12 * width + column] -= rate_x
        group[first + 13 * width + column] -= rate_y


@helper
def add_tyre_derivatives(T, tyre, knots, delta, n, c):
    """Add the derivatives of one tyre, column by column."""
    r, K, D = view(T, s.MARKER_R), view(T, s.GROUP_K), view(T, s.GROUP_D)
    ai, aj = sub(c, load(r, tyre.i)), sub(c, load(r, tyre.j))
    F, _, _, _ = load_of(T, tyre, delta, n, c)
    for column in range(12):
        dri, ti, drj, tj = unit_part(column, 0), unit_part(column, 3), unit_part(column, 6), unit_part(column, 9)
        ddelta, dn, dc = meet_road_rate(T, tyre, knots, dri, ti, drj, tj)
        dex, dey = NOTHING, NOTHING
        if tyre.slips == 1:
            dex, dey = directions_rate(T, tyre, n, dn, ti)
        du, duc = velocities_by_place(T, tyre, dc, dri, drj, tj)
        dF, dM, x, y = load_rate(T, tyre, delta, n, c, ddelta, dn, dex, dey, du, duc, 0.0, 0.0)
        turn_i = add(dM, add(cross(ai, dF), cross(sub(dc, dri), F)))
        turn_j = add(dM, add(cross(aj, dF), cross(sub(dc, drj), F)))
        subtract_change(tyre, K, column, dF, turn_i, turn_j, x, y)
        du, duc = velocities_by_twist(T, tyre, c, dri, ti, drj, tj)
        dF, dM, x, y = load_rate(T, tyre, delta, n, c, 0.0, NOTHING, NOTHING, NOTHING, du, duc, 0.0, 0.0)
        subtract_change(tyre, D, column, dF, add(dM, cross(ai, dF)), add(dM, cross(aj, dF)), x, y)
    if tyre.k >= 0:  # the deflections stand where the velocities of the third marker would
        for column in range(2):
            dF, dM, x, y = load_rate(
                T, tyre, delta, n, c, 0.0, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, 1.0 - column, 1.0 * column
            )
            subtract_change(tyre, D, 12 + column, dF, add(dM, cross(ai, dF)), add(dM, cross(aj, dF)), x, y)


@kernel
def force_derivatives(T, E):
    """Derivatives of all tyres."""
    tyres, knots = view(E, TYRES), view(E, KNOTS)
    for e in range(tyres.shape[0]):
        delta, n, c = meet_road(T, tyres[e], knots)
        if lies_flat(T, tyres[e], n):
            return e + 1
        if delta > 0.0 or tyres[e].pulls == 1 or tyres[e].k >= 0:
            add_tyre_derivatives(T, tyres[e], knots, delta, n, c)
    return OK


@kernel
def energy(T, E):
    """Power of all tyres."""
    tyres, knots = view(E, TYRES), view(E, KNOTS)
    A, V, values = view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.ENERGY)
    for e in range(tyres.shape[0]):
        tyre = tyres[e]
        delta, n, c = meet_road(T, tyre, knots)
        F, M, _, _ = load_of(T, tyre, delta, n, c)
        u, _ = velocities(T, tyre, c)
        bodies = sub(u, scale(tyre.speed, axis(A, tyre.j, 0)))  # a running road moves without its marker
        spin = sub(load_at(V, tyre.i, 3), load_at(V, tyre.j, 3))
        values[s.POWER] += dot(F, bodies) + dot(M, spin)
    return OK


@kernel
def report(T, E):
    """Per tyre: deflection, vertical, longitudinal and lateral force, force and moment on the wheel, contact point."""
    tyres, knots, out = view(E, TYRES), view(E, KNOTS), view(E, REPORT)
    for e in range(tyres.shape[0]):
        delta, n, c = meet_road(T, tyres[e], knots)
        F, M, _, _ = load_of(T, tyres[e], delta, n, c)
        ex, ey = directions(T, tyres[e], n)
        out[e, 0] = delta
        out[e, 1] = dot(n, F)
        out[e, 2] = dot(ex, F)
        out[e, 3] = dot(ey, F)
        put_at(out, e, 4, F)
        put_at(out, e, 7, M)
        put_at(out, e, 10, c)
    return OK


@kernel
def switches(T, E):
    """How far each tyre is above its road, negative where it touches."""
    tyres, knots, values = view(E, TYRES), view(E, KNOTS), view(T, s.SWITCH)
    at = next_switches(T, tyres.shape[0])
    for e in range(tyres.shape[0]):
        delta, _, _ = meet_road(T, tyres[e], knots)
        values[at + e] = -delta
    return OK


@kernel
def passes(T, E):
    """Whether a wheel rolled over something in the step that ends at T's state, or keep that as a start: SWEEP."""
    tyres, knots, start, sweep = view(E, TYRES), view(E, KNOTS), view(E, START), view(T, s.SWEEP)
    at, h, sure = next_switches(T, tyres.shape[0]), sweep[s.SWEEP_H], sweep[s.SWEEP_SURE] == 1.0
    for e in range(tyres.shape[0]):
        if tyres[e].road != FLAT:
            X, Z, rate = place_on_road(T, tyres[e])
            if h == 0.0:
                start[e, 0], start[e, 1], start[e, 2] = X, Z, rate
            else:
                part = part_of_road(tyres[e], knots, start[e], X, Z, rate, h, sweep[s.SWEEP_ROOM], sure)
                if part < sweep[s.SWEEP_PART]:
                    sweep[s.SWEEP_PART], sweep[s.SWEEP_RECORD] = part, at + e
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches} | {
    "passes": passes
}
