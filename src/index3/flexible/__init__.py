"""Structures of finite elements for flexible bodies: frames of tubes, and meshes of scikit-fem."""

from index3.flexible.frames import frame
from index3.flexible.meshes import from_mesh

__all__ = ["frame", "from_mesh"]
