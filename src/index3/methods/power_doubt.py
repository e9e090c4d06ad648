"""What errors as large as allowed change in the power of forces: how much of their work is in doubt.

[The audit](docs/howto/trust.md) leaves that out of the energy balance of a run.
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.methods import audit, run


@helper
def look_for_doubt(T, R, power, alone):
    """Power that errors as large as allowed change at the new state, where it is `power`, into AUDIT.

    These go along the motion, for what goes across it does no work, and are within the constraints. Rates may be wrong
    by what that makes of positions in a step: some methods control nothing else. Where something would touch there is
    no doubt: refusals of steps look after contacts.
    """
    A, q, v, ahead, faster = view(R, run.AUDIT), view(T, s.Q), view(T, s.V), np.inf, np.inf
    h, first = view(R, run.CLOCK)[run.T_NEW] - view(R, run.CLOCK)[run.T_OLD], view(R, run.LIMITS)[run.FIRST_STATE]
    for k in range(v.shape[0]):
        if v[k] != 0.0:
            way = run.weight(R, k)
            rate = max(run.weight_v(R, k), way / h if k < first else 0.0)
            ahead, faster = min(ahead, way / abs(v[k])), min(faster, rate / abs(v[k]))
    A[audit.LOOK_AT], A[audit.UNCERTAIN] = (1.0 + audit.AGAIN) * A[audit.WORKED], 0.0
    if not (ahead < np.inf and A[audit.KINETIC] > 0.0):
        return
    for k in range(v.shape[0]):
        q[k] += ahead * v[k]
        v[k] *= 1.0 + faster
    code = run.core(T, s.CORE_WORKING if alone else s.CORE_FORCES)
    if code == OK and run.core(T, s.CORE_POWER) == OK and not audit.touches(T):
        changed = abs(view(T, s.ENERGY)[s.POWER] - power)
        A[audit.UNCERTAIN] = changed / np.sqrt(A[audit.KINETIC]) if changed < np.inf else 0.0
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    view(R, run.COUNTS)[run.N_WORK] += 1
