"""The stiff planar double pendulum."""

from math import cos, pi, sin

from index3.bodies.marker import as_number
from index3.bodies.planar_body import PlanarBody
from index3.forces.coordinate_spring import RotationalSpringDamper
from index3.joints.standard import Revolute
from index3.model.model import Model


def double_pendulum(c2: float = 5e4) -> Model:
    """Return a planar double pendulum with a stiff, strongly damped second joint.

    Parameters
    ----------
    c2 : float
        Damping of the second rotational spring-damper, N m s/rad.

    Notes
    -----
    D. Negrut, On the implicit integration of differential-algebraic equations of multibody dynamics, thesis, The
    University of Iowa, 1998, section 5.1, Tables 18 and 19. `rod1` is 2 m long and 3 kg, `rod2` 3 m and 0.3 kg, both
    uniform, with inertias 1.0 and 0.225 kg m^2; gravity is 9.81 m/s^2 along -y. The angles of the bodies are measured
    from ground x and start at 2 pi and 23 pi / 12, at rest: the printed initial velocity of `rod2` contradicts the
    printed results, which all belong to zero velocities. Joint `pivot` at the origin carries `spring1` (400 N m/rad,
    15 N m s/rad, free when rod1 hangs straight down); joint `elbow` at (2, 0) carries `spring2` (3e5 N m/rad, c2,
    free when the rods are in line). Counts: 6 coordinates, 4 constraints, 2 degrees of freedom.

    With the default damping one eigenvalue is about -1e5 1/s while the motion takes seconds: explicit methods crawl.
    Usual end time 2 s.

    >>> from index3 import library
    >>> list(library.double_pendulum().forces)
    ['spring1', 'spring2']
    """
    c2 = as_number(c2, "double_pendulum", "c2")
    theta1, theta2 = 2 * pi, 23 * pi / 12
    elbow_x, elbow_y = 2.0 * cos(theta1), 2.0 * sin(theta1)
    model = Model("double pendulum", gravity=(0.0, -9.81, 0.0))
    rod1 = model.add(PlanarBody("rod1", 3.0, 1.0, position=(cos(theta1), sin(theta1)), angle=theta1))
    centre2 = (elbow_x + 1.5 * cos(theta2), elbow_y + 1.5 * sin(theta2))
    rod2 = model.add(PlanarBody("rod2", 0.3, 0.225, position=centre2, angle=theta2))
    z = (0.0, 0.0, 1.0)
    pivot = model.add(Revolute("pivot", model.ground, rod1, at=(0.0, 0.0, 0.0), axis=z))
    elbow = model.add(Revolute("elbow", rod1, rod2, at=(elbow_x, elbow_y, 0.0), axis=z))
    # Joint angles are zero at the start, so a free angle is the free position minus the start.
    model.add(RotationalSpringDamper("spring1", pivot, stiffness=400.0, damping=15.0, free_angle=1.5 * pi - theta1))
    model.add(RotationalSpringDamper("spring2", elbow, stiffness=3e5, damping=c2, free_angle=theta1 - theta2))
    return model
