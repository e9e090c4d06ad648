"""Mechanisms ready to run: each is a function that returns a new Model.

>>> from index3 import library
>>> model = library.four_bar(speed=3.0)
>>> "chain" in library.names()
True

The modules are small and are imported together: a mechanism and its module share one name, and a module imported
later would hide the function of the same name.
"""

from index3.library.ancf_pendulum import ancf_pendulum
from index3.library.andrews import andrews
from index3.library.atv import atv
from index3.library.belt_drive import belt_drive
from index3.library.chain import chain
from index3.library.crawler_track import crawler_track
from index3.library.double_pendulum import double_pendulum
from index3.library.flexible_slider_crank import flexible_slider_crank
from index3.library.four_bar import four_bar
from index3.library.free_double_pendulum import free_double_pendulum
from index3.library.hmmwv14 import hmmwv14
from index3.library.hmmwv50 import hmmwv50
from index3.library.iltis import iltis
from index3.library.mass_spring import mass_spring
from index3.library.parallelogram import parallelogram
from index3.library.pendulum import pendulum
from index3.library.slider_crank import slider_crank
from index3.library.spinning_top import spinning_top

__all__ = [
    "ancf_pendulum",
    "andrews",
    "atv",
    "belt_drive",
    "chain",
    "crawler_track",
    "double_pendulum",
    "flexible_slider_crank",
    "four_bar",
    "free_double_pendulum",
    "hmmwv14",
    "hmmwv50",
    "iltis",
    "mass_spring",
    "names",
    "parallelogram",
    "pendulum",
    "slider_crank",
    "spinning_top",
]


def names() -> list[str]:
    """Return the names of all mechanisms, in alphabetical order."""
    return [name for name in __all__ if name != "names"]
