"""Energy audit: which element holds, stores, gives and takes the energy of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import C_KERNEL, JIT, Slot, Table, call
from index3.engine.equations import Equations
from index3.engine.settings import check_model, check_result
from index3.errors import ModelError
from index3.model.model import Model
from index3.results.applied import place
from index3.results.result import Result
from index3.system.kinds import recorded
from index3.system.state import State


@dataclass(frozen=True)
class Share:
    """What one element has to do with the energy, (n_t,) each: J, W, J."""

    kinetic: np.ndarray
    potential: np.ndarray
    power: np.ndarray
    work: np.ndarray


@dataclass(frozen=True)
class Audit:
    """Energies of a run by element; prints as a table.

    Attributes
    ----------
    t : times
    elements : name -> `Share`: bodies (kinetic energy, potential energy of gravity), forces, motions, and "jumps" for
        what events took at once. `work` is the integral of `power` over the output times by Simpson's rule
    total, work : the run's own histories, of all steps
    """

    t: np.ndarray
    elements: dict[str, Share]
    total: np.ndarray
    work: np.ndarray

    def __getitem__(self, name: str) -> Share:
        if name not in self.elements:
            raise ModelError(f"energy audit: there is no element '{name}'. There are: {', '.join(self.elements)}.")
        return self.elements[name]

    @property
    def missing(self) -> np.ndarray:
        """Work of the run minus that of all elements, (n_t,): what too few output times lose."""
        return self.work - np.sum([share.work for share in self.elements.values()], axis=0)

    def __str__(self) -> str:
        lines = [f"energy from t = {self.t[0]:g} to {self.t[-1]:g} s"]
        lines.append(f"{'element':<24}{'kinetic J':>13}{'potential J':>13}{'work J':>13}{'largest W':>13}")
        for name, share in self.elements.items():
            change = (share.kinetic[-1] - share.kinetic[0], share.potential[-1] - share.potential[0])
            power = share.power[np.argmax(np.abs(share.power))]
            lines.append(f"{name:<24}{change[0]:>13.6g}{change[1]:>13.6g}{share.work[-1]:>13.6g}{power:>13.6g}")
        change, work = self.total[-1] - self.total[0], self.work[-1] - self.work[0]
        lines.append(f"change of energy {change:.6g} J, work {work:.6g} J, balance {change - work:.3g} J")
        lines.append(f"work that the elements do not account for {self.missing[-1]:.3g} J")
        return "\n".join(lines)


def energy_audit(model: Model, result: Result) -> Audit:
    """Split the energy and the work of a run by bodies, forces and motions.

    Parameters
    ----------
    model : the Model that was run
    result : what `simulate` or `kinematics` returned; its output times are the points of the integrals

    >>> import index3 as ix
    >>> model = ix.library.pendulum()
    >>> shares = ix.simulate(model, (0.0, 1.0), t_eval=0.01).energy.shares()
    >>> abs(float((shares["rod"].kinetic + shares["rod"].potential)[-1])) < 1e-3
    True
    """
    check_model(model, "energy audit")
    check_result(result, "energy audit")
    equations = Equations(model, "energy audit")
    equations.start(result)  # raises if the bodies are others
    system, state = equations.system, equations.state
    stages = [k for k, (stage, _, _) in enumerate(system.stages) if stage == "energies"]
    names = [name for k in stages for name in share_names(system.stages[k][1], state.tables[k])]
    lines = [(k, tables_of_one(system.stages[k][1], state.tables[k])) for k in stages]
    rows_of = [group for group in system.groups if group.rows]  # those that time moves do work: motions, driven joints
    values = np.zeros((len(names) + len(rows_of), 3, len(result)))
    for k in range(len(result)):
        place(state, result, k)
        shares = [share for line in lines for share in split(state, *line)]
        for group in rows_of:
            rows = slice(group.row, group.row + group.rows)
            shares.append((0.0, 0.0, float(state[s.LAM][rows] @ state[s.PHI_T][rows])))
        values[:, :, k] = shares
    moved = [group.element.element == "motion" or values[k, 2].any() for k, group in enumerate(rows_of, len(names))]
    values = values[np.concatenate([np.ones(len(names), bool), moved])] if moved else values
    names += [group.name for group, moves in zip(rows_of, moved, strict=True) if moves]
    works = integrate(values[:, 2], result.t)
    elements = {
        name: Share(kinetic=x[0], potential=x[1], power=x[2], work=work)
        for name, x, work in zip(names, values, works, strict=True)
    }
    if result.jumps:
        still = np.zeros(len(result))
        elements["jumps"] = Share(kinetic=still, potential=still, power=still, work=work_of_jumps(result))
    return Audit(result.t, elements, result.energy.total, result.energy.work)


def split(state: State, stage: int, tables: list[Table]) -> Iterator[tuple[float, float, float]]:
    """Kinetic and potential energy and power of each element of a kind, by its own kernel."""
    energy, address = state[s.ENERGY], int(state[s.STAGES][stage])
    for table in tables:
        energy[:] = 0.0
        if JIT:
            C_KERNEL(address)(state.handle, table.handle)
        else:
            call(address, state.handle, table.handle)
        yield float(energy[s.KINETIC]), float(energy[s.POTENTIAL]), float(energy[s.POWER])


def is_split(table: Table, count: int) -> bool:
    """Whether the first slot of a kind's table holds one record per element, as kernels ask for."""
    records = table.arrays[0]
    return records is not None and records.dtype.names is not None and len(records) == count


def share_names(elements: Sequence[Any], table: Table) -> list[str]:
    """One name per element of a kind, or one for all of them where they cannot be told apart.

    Markers that move need not have a name of their own.
    """
    elements = recorded(elements)
    names = [element.name or f"{type(element).__name__} {k + 1}" for k, element in enumerate(elements)]
    return names if is_split(table, len(elements)) else [", ".join(names)]


def tables_of_one(elements: Sequence[Any], table: Table) -> list[Table]:
    """A kind's table with the record of one element alone, for each; as it is where there is no record per element."""
    records, count = table.arrays[0], len(recorded(elements))
    if records is None or not is_split(table, count):
        return [table]
    slot, tables = Slot(0, records.dtype, records.ndim), []
    for k in range(count):
        tables.append(table.sharing())
        tables[-1][slot] = records[k : k + 1]
    return tables


def work_of_jumps(result: Result) -> np.ndarray:
    """Kinetic energy that events gave up to each line; of two lines at the time of a jump the later is after it."""
    lines = np.arange(len(result))
    work = np.zeros(len(result))
    for jump in result.jumps:
        work[lines >= np.searchsorted(result.t, jump.t, "right") - (jump.t in result.t)] -= jump.kinetic_lost
    return work


def integrate(powers: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Integrals (count, n_t) of histories from the first time on; powers may jump where two lines have one time."""
    from scipy.integrate import cumulative_simpson, cumulative_trapezoid

    works, start = np.zeros_like(powers), 0
    for end in (*(np.flatnonzero(np.diff(t) <= 0.0) + 1), len(t)):
        if start > 0:
            works[:, start:end] = works[:, start - 1 : start]
        if end - start > 1 and len(powers):
            rule = cumulative_simpson if end - start > 2 else cumulative_trapezoid
            works[:, start:end] += rule(powers[:, start:end], x=t[start:end], initial=0.0)
        start = end
    return works
