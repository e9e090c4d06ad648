"""Two points at a distance L: (d . d - L^2) / (2 L_0) = 0, d = r_j - r_i.

L_0 is the length at the start; where L = L_0 + f(t) is not it, the force in the link is lam L / L_0.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, dot, load, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.arms import arms
from index3.constraints.rows import clear_hessian, put_block, put_gradient, row_dtype, use_hessian

DISTANCE = row_dtype(("length", "f8"), ("function", "i8"))
(ROWS,) = slots(rows=(DISTANCE, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["length"], fields.get("function", -1))


IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def constraints(T, E):
    """PHI, its explicit derivatives by time, and ROW_G of every row; or the number, from 1, of one whose length is not
    positive.
    """
    rows, r, zero = view(E, ROWS), view(T, s.MARKER_R), (0.0, 0.0, 0.0)
    phi, phi_t, phi_tt, size = view(T, s.PHI), view(T, s.PHI_T), view(T, s.PHI_TT), view(T, s.PHI_SCALE)
    g, values = view(T, s.ROW_G), view(T, s.FUNCTION_VALUES)
    for e in range(rows.shape[0]):
        length, f, ri, rj = rows[e].length, rows[e].function, load(r, rows[e].i), load(r, rows[e].j)
        d = sub(rj, ri)
        u = scale(1.0 / length, d)
        phi[rows[e].row] = 0.5 * (dot(d, d) / length - length)
        size[rows[e].row] = length + absolute(u, ri) + absolute(u, rj) + arms(T, rows[e].i, rows[e].j)
        if f >= 0:
            now, rate = length + values[f, 0], values[f, 1]
            if not now > 0.0:
                return e + 1
            phi[rows[e].row] -= 0.5 * (values[f, 0] / length) * (length + now)
            size[rows[e].row] += abs(values[f, 0])
            phi_t[rows[e].row] = -now * rate / length
            phi_tt[rows[e].row] = -(rate * rate + now * values[f, 2]) / length
        put_gradient(g, rows[e].gradient, scale(-1.0, u), zero, u, zero)
    return OK


@kernel
def hessians(T, E):
    """Second derivatives of every row; they are constant."""
    rows, hessian = view(E, ROWS), clear_hessian(T)
    for e in range(rows.shape[0]):
        c = 1.0 / rows[e].length
        put_block(hessian, 0, 0, IDENTITY, c)
        put_block(hessian, 2, 2, IDENTITY, c)
        put_block(hessian, 0, 2, IDENTITY, -c)
        put_block(hessian, 2, 0, IDENTITY, -c)
        use_hessian(T, rows, e, hessian)
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
