"""The arrays of a state that kernels compute: their shapes, and what stands in them from the start."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Slot
from index3.system.numbering import Numbering
from index3.system.parts import angle_between


def work_shapes(
    numbers: Numbering, entries: int, functions: int, reads_reactions: bool, reads_accelerations: bool
) -> dict[Slot, tuple[int, ...]]:
    """The shapes of all slots that are computed.

    Parameters
    ----------
    entries : of the matrix
    functions : of time, their number
    reads_reactions, reads_accelerations : whether a force depends on them: then there are more slots
    """
    n, m, count, sizes = (numbers.n,), (numbers.m,), len(numbers.markers), numbers.sizes
    ragged, block = (6 * sum(map(len, numbers.spans)),), (sizes["block"],)
    shapes: dict[Slot, tuple[int, ...]] = dict.fromkeys((s.Q, s.V, s.A, s.Q_MASS, s.G, s.MA), n)
    shapes |= dict.fromkeys((s.LAM, s.PHI, s.PHI_T, s.PHI_TT, s.PHI_SCALE, s.RATE, s.GAMMA), m)
    shapes |= dict.fromkeys((s.MARKER_V, s.MARKER_F, s.MARKER_B, s.MARKER_X), (count, 6))
    shapes |= {s.MARKER_R: (count, 3), s.MARKER_A: (count, 9)}
    shapes |= dict.fromkeys((s.MARKER_J, s.MARKER_NV, s.MARKER_NA, s.MARKER_BQ, s.MARKER_BV), ragged)
    shapes |= dict.fromkeys((s.GROUP_K, s.GROUP_D), (sizes["stiffness"],))
    shapes |= {s.ROW_R: (sizes["gradient"] * reads_reactions,), s.Q_LAM: (sizes["block"] * reads_reactions,)}
    read = int(reads_accelerations)
    shapes |= {s.A_NOW: (numbers.n * read,), s.A_PAST: (numbers.n * read,), s.SHARE: (1,)}
    shapes |= {s.MARKER_W: (count * read, 6), s.GROUP_M: (sizes["stiffness"] * read,)}
    gradients = (s.ROW_G, s.ROW_VH, s.ROW_HV, s.ROW_XH, s.ROW_BH, s.ROW_H3)
    shapes |= dict.fromkeys(gradients, (sizes["gradient"],))
    shapes |= dict.fromkeys((s.PHI_Q, s.PHIV_Q, s.PHIA_Q, s.GAMMA_Q, s.GAMMA_V), block)
    shapes |= dict.fromkeys((s.ANGLES, s.ANGLE_REF, s.ANGLE_SPEED), (len(numbers.angle_joints),))
    widest = 6 * max([2, *(len(group.markers) for group in numbers.groups if group.rows)])
    shapes |= {s.TIME: (1,), s.COEF: (6,), s.ENERGY: (3,), s.STATUS: (s.STATUS_SIZE,), s.HESSIAN: (widest, widest)}
    shapes |= {s.MATRIX: (entries + 1,)}
    shapes |= {s.FUNCTION_VALUES: (functions + 1, 3)}  # the last line: the time of the others
    shapes[s.BRANCH] = (numbers.m, 2)
    shapes[s.GROUP_APART] = (numbers.group_count,)
    return shapes


def initial_values(numbers: Numbering) -> dict[Slot, np.ndarray]:
    """Initial poses of all markers, angles of joints; markers of ground and axes of point masses stay as they are."""
    poses = [numbers.poses(marker) for marker in numbers.markers]
    of_marker = {id(marker): pose for marker, pose in zip(numbers.markers, poses, strict=True)}
    ends = [(of_marker[id(joint.first)], of_marker[id(joint.second)]) for joint in numbers.angle_joints]
    return {
        s.MARKER_R: np.array([r for r, _ in poses], float).reshape(-1, 3),
        s.MARKER_A: np.array([A for _, A in poses], float).reshape(-1, 9),
        s.ANGLE_REF: np.array([angle_between(first[1], second[1]) for first, second in ends], float),
        s.BRANCH: np.tile([1.0, 0.0], (numbers.m, 1)),
    }
