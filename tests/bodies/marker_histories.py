"""Histories of markers in results, compared with what kernels have at the same states."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.state import State


def histories_against_kernels(system, result):
    """Largest differences of position and rotation, of twist, and of acceleration, of every marker at every time.

    A marker's acceleration is J a + (J v)_q v; its difference counts in parts of it where that is larger than 1.
    """
    state, worst = State(system), np.zeros(3)
    for k in range(len(result)):
        state.move(result.t[k], result.q[k], result.v[k])
        state[s.A][:] = result.a[k]
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.derivatives) == 0
        for group in system.groups:
            for number, marker in zip(group.marker_numbers, group.markers, strict=True):
                seen = result.marker(marker)
                pose = np.concatenate([seen.position[k], seen.rotation[k].ravel()])
                twist = np.concatenate([seen.velocity[k], seen.angular_velocity[k]])
                rate = np.concatenate([seen.acceleration[k], seen.angular_acceleration[k]])
                expected = state[s.MARKER_X][number] + state[s.MARKER_B][number]
                differences = (
                    pose - np.concatenate([state[s.MARKER_R][number], state[s.MARKER_A][number]]),
                    twist - state[s.MARKER_V][number],
                    (rate - expected) / max(1.0, np.abs(expected).max()),
                )
                worst = np.maximum(worst, [np.abs(x).max() for x in differences])
    return worst
