"""Constraints on velocities: blades and wheels."""

from __future__ import annotations

from index3.joints.base import Joint, Primitive, Z


class KnifeEdge(Joint):
    """A blade on the second body that cannot slide sideways on the first: one velocity-level row.

    `axis` is the direction across the blade, fixed in the second body; along the blade and about it the body is free.
    """

    recipe = (Primitive("knife_edge", ("sideways",), {"axis_second": Z}),)
