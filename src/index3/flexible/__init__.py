"""Structures of finite elements for flexible bodies: frames of tubes, and meshes of scikit-fem."""

from index3.flexible.frames import frame

__all__ = ["frame"]
