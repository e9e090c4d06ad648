"""Shapes of contact: `index3.shapes.Sphere(0.1)` and the others, for `Contact` and `ContactSet`."""

from index3.forces.shapes import Box as Box
from index3.forces.shapes import Cylinder as Cylinder
from index3.forces.shapes import Plane as Plane
from index3.forces.shapes import Sphere as Sphere
from index3.forces.shapes import Sprocket as Sprocket
from index3.forces.shapes import Strip as Strip

__all__ = ["Box", "Cylinder", "Plane", "Sphere", "Sprocket", "Strip"]
