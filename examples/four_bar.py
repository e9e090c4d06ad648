"""A spatial four-bar linkage turning under gravity: described, checked, run, printed, plotted and animated.

    python examples/four_bar.py [folder for the files, default: out]

All four joints are revolutes in space, so three of the constraint rows are redundant; nothing has to be said about it.
"""

import sys
from pathlib import Path

import index3 as ix


def model() -> ix.Model:
    """Crank AB, coupler BC and rocker CD; the crank starts upright at 3 rad/s."""
    m = ix.Model("four-bar")
    A, B, C, D = (0, 0, 0), (0, 0, 0.4), (0.91833, 0, 0.79582), (1, 0, 0)
    crank = m.add(ix.RigidBody.rod("crank", A, B, mass=1.0, angular_velocity=(0, 3, 0)))
    coupler = m.add(ix.RigidBody.rod("coupler", B, C, mass=1.0))
    rocker = m.add(ix.RigidBody.rod("rocker", C, D, mass=1.0))
    m.add(ix.Revolute("A", m.ground, crank, at=A, axis=(0, 1, 0)))
    m.add(ix.Revolute("B", crank, coupler, at=B, axis=(0, 1, 0)))
    m.add(ix.Revolute("C", coupler, rocker, at=C, axis=(0, 1, 0)))
    m.add(ix.Revolute("D", rocker, m.ground, at=D, axis=(0, 1, 0)))
    return m


def main(folder: Path) -> None:
    """Run five seconds and write `four_bar.html` and `four_bar.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    mechanism = model()
    print(mechanism.check())
    result = ix.simulate(mechanism, (0.0, 5.0), rtol=1e-6, t_eval=0.01)
    print(result)
    print(f"largest force in joint B: {abs(result['B'].force).max():.1f} N")
    result.plot()[0].figure.savefig(folder / "four_bar.png", dpi=150)
    result.to_html(folder / "four_bar.html")
    print(f"wrote {folder / 'four_bar.png'} and {folder / 'four_bar.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
