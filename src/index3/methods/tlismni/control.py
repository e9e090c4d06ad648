"""Step sizes of TLISMNI: by the truncation error, or by the rules of the paper.

[ShabanaTlismni] section 5; bare numbers are its equations. Ours differs: the maxima in (9), (10), (12), (13) are read
as minima, as the text around them says.
Constants not in the paper: growth of a step at most 2, and only until the iteration is expected to halve its changes
(beyond, more iterations cost more than longer steps save); after a failed loop steps stay 10 % below the one that
failed, a limit that rises by 1 % per step.
"""

from __future__ import annotations

from index3.compiled.interface import helper, view
from index3.methods import run
from index3.methods.tlismni import formulas, parts


@helper
def paper_step(size, h, order):
    """The step for which (h_new/h)^(p+1) |e| = eps h_new / 2, the bound (8): (9), (10), (12), (13)."""
    p = float(order)
    return (h ** (p + 1.0) / (2.0 * max(size, 1e-300))) ** (1.0 / p)


@helper
def next_start(E, R, h):
    """Judge a step of the Runge-Kutta pair; the last one chooses the first step of the formula. Whether it is accepted.

    The paper's first step: eps h/2 = c h^(p+1) D (section 5).
    """
    clock, memory, c = view(R, run.CLOCK), view(E, parts.MEMORY), view(E, parts.SETTINGS)
    order, error = view(E, parts.FORMULA)[formulas.ORDER], 10.0 * memory[parts.START_ERROR]
    clock[run.H_NEXT] = h
    if not error <= 1.0:
        clock[run.H_NEXT] = h * max(0.2, min(0.9, 0.9 * error**-0.25))
        return False
    if view(E, parts.FLAGS)[parts.FILLED] == order:
        new = h * 0.9 * max(memory[parts.ERROR], 1e-12) ** (-1.0 / (order + 1.0))
        if c[parts.PAPER_CONTROLLER] == 1.0:
            new = paper_step(memory[parts.ERROR], h, order)
        clock[run.H_NEXT] = c[parts.FIRST_STEP] if c[parts.FIRST_STEP] > 0.0 else min(5.0 * h, new)
    return True


@helper
def next_step(E, R, h):
    """Judge the truncation error of a converged step and choose the next size; whether the step is accepted."""
    clock, flags, memory, c = view(R, run.CLOCK), view(E, parts.FLAGS), view(E, parts.MEMORY), view(E, parts.SETTINGS)
    order, error = view(E, parts.FORMULA)[formulas.ORDER], memory[parts.ERROR]
    if flags[parts.FILLED] <= order:
        return next_start(E, R, h)
    if c[parts.PAPER_CONTROLLER] == 1.0:
        clock[run.H_NEXT] = max(h, min(5.0 * h, paper_step(memory[parts.SIZE], h, order)))  # (9), (12)
        return True
    factor = 0.9 * max(error, 1e-12) ** (-1.0 / (order + 1.0))
    if not error <= 1.0:
        clock[run.H_NEXT] = h * max(0.2, min(0.9, factor))
        flags[parts.HELD] = 1
        return False
    factor = max(0.2, min(factor, 1.0 if flags[parts.HELD] == 1 else 2.0))
    if memory[parts.ITERATIONS] > 2.0 and memory[parts.RATE] * factor > 0.5:
        factor = min(factor, max(0.5 / memory[parts.RATE], 0.8))
    flags[parts.HELD] = 0
    memory[parts.H_FAILED] *= 1.01
    clock[run.H_NEXT] = min(h * factor, max(h, 0.9 * memory[parts.H_FAILED]))
    return True


@helper
def retreat(E, R, code, h):
    """After a failed iteration: a smaller step, the past kept."""
    clock, flags, counts, c = view(R, run.CLOCK), view(E, parts.FLAGS), view(R, run.COUNTS), view(E, parts.SETTINGS)
    memory = view(E, parts.MEMORY)
    run.retry(R, 0.25 if code >= run.NEWTON_FAILED else 0.5)
    flags[parts.HELD] = 1
    memory[parts.PROSPECT] = 1.0
    memory[parts.H_FAILED] = h
    if code == parts.OPEN:
        counts[run.N_UNCLOSED] += 1
    if code == parts.STALLED:
        counts[run.N_NEWTON_FAILED] += 1
        if c[parts.PAPER_CONTROLLER] == 1.0:
            order = view(E, parts.FORMULA)[formulas.ORDER]
            clock[run.H_NEXT] = min(0.5 * h, paper_step(memory[parts.SIZE], h, order))  # (10), (13)
