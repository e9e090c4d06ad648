"""Whether the ends of a line met between two evaluations, where it has no direction."""

from __future__ import annotations

import numpy as np

from index3.algebra.vectors import dot, norm, scale, sub
from index3.compiled.interface import helper

MET = 1e-2
"""Two evaluations pass through zero length if d turns back on a line that misses zero by less than this part of its
length: smaller steps bring a real passage ever closer to zero, and tell a narrow miss from it."""


@helper
def ends_met(seen, t, length, u):
    """While a method steps: whether the ends met since the last evaluation at another time; if not, remember d.

    Steps hardly ever end at zero length itself, beyond which the force would act the other way round.
    """
    if t < seen[0]:  # a step is tried anew, or its stages are not in the order of time: nothing to compare with
        seen[5] = np.nan
    elif t != seen[0]:  # also where nothing is remembered, as NaN
        for k in range(4):
            seen[4 + k] = seen[k]
    d, before = scale(length, u), (seen[5], seen[6], seen[7])
    if dot(d, before) < 0.0:
        line = sub(d, before)
        along = dot(d, line) / dot(line, line)
        if norm(sub(d, scale(along, line))) < MET * norm(line):
            return True
    seen[0] = t
    seen[1] = d[0]
    seen[2] = d[1]
    seen[3] = d[2]
    return False
