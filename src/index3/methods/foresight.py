"""The power in the middle of a step, foreseen from the steps before instead of evaluated.

Formulas of low order have coordinates that move on otherwise than their rates tell. A node in the middle of the step
tells what that makes of the work, and steps of the same length one after the other are alike in that: what the power in
the middle is above the mean of both ends, by the square of the step, goes on as it did between the last two nodes.
A force that switches shows at the end of the step, in the error that Simpson's rule has with the nodes before.
"""

from __future__ import annotations

from index3.compiled.interface import helper, view
from index3.methods import run
from index3.methods.power_nodes import open_node

AHEAD, WORSE = 4.0, 2.0
"""Steps behind one with a node in its middle that go by it, and by how much their error may be larger."""
CERTAIN, IRREGULAR = 0.5, 0.1
"""Times the error left alone by which the last node may have been foreseen wrongly; and part of a step by which it
may be longer or shorter than the one before."""


@helper
def is_regular(R):
    """Whether the last step is about as long as the one before it, if that had a node in its middle too."""
    t, first, clock = view(R, run.NODE_T), view(R, run.NODES)[run.NODE_OLD], view(R, run.CLOCK)
    h = clock[run.T_NEW] - clock[run.T_OLD]
    return first > 0 and abs(2.0 * (t[first] - t[max(first - 1, 0)]) - h) <= IRREGULAR * h


@helper
def foreseen_bend(R, t):
    """Power in the middle of a step above the mean of its ends, by the square of the step, as in the steps before."""
    work = view(R, run.WORK)
    return work[run.MIDDLE] + work[run.MIDDLE_RATE] * (t - work[run.MIDDLE_T])


@helper
def note_middle(R, size, error):
    """After a node in the middle of a step and nowhere else in it: what the middles of the next steps may be."""
    work, t, power = view(R, run.WORK), view(R, run.NODE_T), view(R, run.NODE_POWER)
    first = view(R, run.NODES)[run.NODE_OLD]
    h, middle = t[first + 2] - t[first], t[first + 1]
    if size == 0.0 or middle == work[run.MIDDLE_T]:
        return
    bend = (power[first + 1] - 0.5 * (power[first] + power[first + 2])) / (h * h)
    work[run.MIDDLE_DOUBT] = abs(bend - foreseen_bend(R, middle))
    work[run.MIDDLE_RATE] = (bend - work[run.MIDDLE]) / (middle - work[run.MIDDLE_T])
    work[run.MIDDLE], work[run.MIDDLE_T] = bend, middle
    work[run.MIDDLE_ERROR], work[run.FORESEEN] = error / size, AHEAD if is_regular(R) else 0.0


@helper
def usual_error(R, size):
    """Error of Simpson's rule up to which a step is like the last one with a node."""
    return WORSE * view(R, run.WORK)[run.MIDDLE_ERROR] * size


@helper
def open_middle(R, allowed):
    """A node in the middle of the step, with the power foreseen there; the error by that, or -1 if it is in doubt."""
    work, t, power = view(R, run.WORK), view(R, run.NODE_T), view(R, run.NODE_POWER)
    first = view(R, run.NODES)[run.NODE_OLD]
    h, mean = t[first + 1] - t[first], 0.5 * (power[first] + power[first + 1])
    doubt = 2.0 / 3.0 * h**3 * work[run.MIDDLE_DOUBT]
    if work[run.FORESEEN] <= 0.0 or doubt > CERTAIN * allowed or not is_regular(R):
        return -1.0
    middle = open_node(R, first)
    power[first + 1] = mean + h * h * foreseen_bend(R, middle)
    return doubt


@helper
def close_middle(R):
    """Without the node of `open_middle` again."""
    nodes, t, power = view(R, run.NODES), view(R, run.NODE_T), view(R, run.NODE_POWER)
    first = nodes[run.NODE_OLD]
    t[first + 1], power[first + 1] = t[first + 2], power[first + 2]
    nodes[run.NODE_NEW] -= 1
