"""The flexible pendulum of [HusseinHHT]."""

from __future__ import annotations

from typing import Any

from index3.bodies.ancf_beam import AncfBeam
from index3.joints.standard import Spherical
from index3.model.model import Model


def ancf_pendulum(young: float = 2e7, *, elements: int = 2, poisson: float = 0.3, **settings: Any) -> Model:
    """A beam of 0.4 m, pinned at one end, that falls from the horizontal: the pendulum of section 8.

    Its section is 0.04 m x 0.04 m, its density 7800 kg/m^3. The paper takes young = 2e5, 2e6, ... 2e11 N/m^2 and does
    not say whether strain or stress across the plane vanishes; `settings` are further ones of `AncfBeam`, such as
    plane="stress", law="elastic-line" or damping.

    >>> ancf_pendulum(young=2e5).check().dof
    16
    """
    model = Model("ancf_pendulum", gravity=(0, -9.81, 0))
    material: dict[str, Any] = {"height": 0.04, "width": 0.04, "density": 7800.0, "young": young, "poisson": poisson}
    beam = model.add(AncfBeam("beam", (0, 0), (0.4, 0), elements=elements, **material, **settings))
    model.add(Spherical("pin", model.ground, beam, at=(0, 0, 0)))
    return model
