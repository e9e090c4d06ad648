"""The error filter of stiff methods: (I - g J)^-1 in all coordinates, with the factored matrix of a step."""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.linear import contract
from index3.methods import run
from index3.methods.state_space.frame import add_product


@helper
def filter_error(T, S, mass, stiff, damp, e_q, e_v, out_q, out_v, g):
    """(I - g J) out = e, where J is the Jacobian of (q, v)' in the tangent space and S holds M + g D + g^2 K, bordered.

    [NegrutThesis] (5.6), (3.101), (3.102); both parts of the result are tangential.
    """
    x, n = view(S, contract.X), view(T, s.Q).shape[0]
    for k in range(x.shape[0]):
        x[k] = 0.0
    add_product(S, mass, e_v, 1.0, x)
    add_product(S, stiff, e_q, -g, x)
    contract.solve(T, S)
    run.copy(out_v, x[:n])
    for k in range(x.shape[0]):
        x[k] = 0.0
    add_product(S, mass, e_q, 1.0, x)
    add_product(S, mass, e_v, g, x)
    add_product(S, damp, e_q, g, x)
    contract.solve(T, S)
    run.copy(out_q, x[:n])
