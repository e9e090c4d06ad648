"""What the tests of joints share: Newton's and Euler's equations for every body of a finished run."""

from __future__ import annotations

import numpy as np


def newton_euler(model, result, loads=None) -> float:
    """The largest residual of m a = sum of forces and I w' + w x I w = sum of torques, scaled by the largest term.

    `loads`: forces and torques about the centre of mass, (n_t, 6), by body, of what is no joint, motion or gravity.
    """
    sums = {name: np.zeros((len(result), 6)) for name in model.bodies}
    for body, load in (loads or {}).items():
        sums[body] += load
    for name in (*model.joints, *model.motions):
        element = model[name]
        joint = getattr(element, "joint", element)
        for k, marker in enumerate(joint.markers):
            if marker.body.name == "ground":
                continue
            force, torque = result[name].on(k)
            arm = result.marker(marker).position - result[marker.body.name].position
            sums[marker.body.name][:, :3] += force
            sums[marker.body.name][:, 3:] += torque + np.cross(arm, force)
    worst = 0.0
    for name, body in model.bodies.items():
        view = result[name]
        inertia = np.diag([0.0, 0.0, float(body.inertia)]) if body.kind == "planar" else np.asarray(body.inertia)
        A, w = view.rotation, view.angular_velocity
        turned = A @ inertia @ np.swapaxes(A, 1, 2)
        momentum = np.einsum("tij,tj->ti", turned, w)
        left = np.column_stack(
            [
                body.mass * (view.acceleration - model.gravity),
                np.einsum("tij,tj->ti", turned, view.angular_acceleration) + np.cross(w, momentum),
            ]
        )
        parts = slice(0, 6)
        if body.kind == "planar":
            parts = [0, 1, 5]
        size = max(1.0, np.abs(left).max(), np.abs(sums[name]).max())
        worst = max(worst, float(np.abs(left - sums[name])[:, parts].max() / size))
    return worst
