"""Coefficients of explicit Runge-Kutta pairs, stored sparsely: row i of `a` is {j: a_ij}.

`b` advances; the rows of `error` give the error estimates as combinations of the stages, the end of the step being one
more stage. Digits as published: J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19 (5(4) pair of seven
stages); E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition, sections II.5 and
II.10 and the code DOP853 that comes with it (8(5,3), twelve stages).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from index3.record import Record


class Tableau(Record, frozen=True):
    """One explicit Runge-Kutta formula with its error estimates and its rule for step sizes.

    `order` is that of `b`. `end_in_error`: an estimate uses the end of the step. `exponent`, `memory`: h changes by
    safety * error^-exponent * (error before)^memory, within `shrink` and `grow`.
    """

    order: int
    nodes: tuple[float, ...]
    a: tuple[dict[int, float], ...]
    b: dict[int, float]
    error: tuple[dict[int, float], ...]
    end_in_error: bool
    exponent: float
    memory: float
    shrink: float
    grow: float

    @property
    def stages(self) -> int:
        """Number of stages, the end of the step not counted."""
        return len(self.nodes)

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients as arrays: (stages + 1, stages), the last row `b`; error rows (2, stages + 1)."""
        a, error = np.zeros((self.stages + 1, self.stages)), np.zeros((2, self.stages + 1))
        for i, row in enumerate((*self.a, self.b)):
            for j, value in row.items():
                a[i, j] = value
        for i, row in enumerate(self.error):
            for j, value in row.items():
                error[i, j] = value
        return a, error


DOPRI5 = Tableau(
    order=5,
    nodes=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    a=(
        {},
        {0: 1 / 5},
        {0: 3 / 40, 1: 9 / 40},
        {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
        {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
        {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
    ),
    b={0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
    error=({0: 71 / 57600, 2: -71 / 16695, 3: 71 / 1920, 4: -17253 / 339200, 5: 22 / 525, 6: -1 / 40},),
    end_in_error=True,
    exponent=0.2 - 0.75 * 0.04,  # the controller with memory of section IV.2, as in Hairer's code DOPRI5
    memory=0.04,
    shrink=0.2,
    grow=10.0,
)

_B853 = {
    0: 5.42937341165687622380535766363e-2,
    5: 4.45031289275240888144113950566,
    6: 1.89151789931450038304281599044,
    7: -5.8012039600105847814672114227,
    8: 3.1116436695781989440891606237e-1,
    9: -1.52160949662516078556178806805e-1,
    10: 2.01365400804030348374776537501e-1,
    11: 4.47106157277725905176885569043e-2,
}
_BHH = {
    0: 0.244094488188976377952755905512,
    8: 0.733846688281611857341361741547,
    11: 0.220588235294117647058823529412e-1,
}

DOP853 = Tableau(
    order=8,
    nodes=(
        0.0, 0.526001519587677318785587544488e-1, 0.789002279381515978178381316732e-1, 0.118350341907227396726757197510,
        0.281649658092772603273242802490, 1 / 3, 1 / 4, 4 / 13, 127 / 195, 3 / 5, 6 / 7, 1.0,
    ),
    a=(
        {},
        {0: 5.26001519587677318785587544488e-2},
        {0: 1.97250569845378994544595329183e-2, 1: 5.91751709536136983633785987549e-2},
        {0: 2.95875854768068491816892993775e-2, 2: 8.87627564304205475450678981324e-2},
        {0: 2.41365134159266685502369798665e-1, 2: -8.84549479328286085344864962717e-1,
         3: 9.24834003261792003115737966543e-1},
        {0: 1 / 27, 3: 1.70828608729473871279604482173e-1, 4: 1.25467687566822425016691814123e-1},
        {0: 3.7109375e-2, 3: 1.70252211019544039314978060272e-1, 4: 6.02165389804559606850219397283e-2,
         5: -1.7578125e-2},
        {0: 3.70920001185047927108779319836e-2, 3: 1.70383925712239993810214054705e-1,
         4: 1.07262030446373284651809199168e-1, 5: -1.53194377486244017527936158236e-2,
         6: 8.27378916381402288758473766002e-3},
        {0: 6.24110958716075717114429577812e-1, 3: -3.36089262944694129406857109825,
         4: -8.68219346841726006818189891453e-1, 5: 2.75920996994467083049415600797e1,
         6: 2.01540675504778934086186788979e1, 7: -4.34898841810699588477366255144e1},
        {0: 4.77662536438264365890433908527e-1, 3: -2.48811461997166764192642586468,
         4: -5.90290826836842996371446475743e-1, 5: 2.12300514481811942347288949897e1,
         6: 1.52792336328824235832596922938e1, 7: -3.32882109689848629194453265587e1,
         8: -2.03312017085086261358222928593e-2},
        {0: -9.3714243008598732571704021658e-1, 3: 5.18637242884406370830023853209,
         4: 1.09143734899672957818500254654, 5: -8.14978701074692612513997267357,
         6: -1.85200656599969598641566180701e1, 7: 2.27394870993505042818970056734e1,
         8: 2.49360555267965238987089396762, 9: -3.0467644718982195003823669022},
        {0: 2.27331014751653820792359768449, 3: -1.05344954667372501984066689879e1,
         4: -2.00087205822486249909675718444, 5: -1.79589318631187989172765950534e1,
         6: 2.79488845294199600508499808837e1, 7: -2.85899827713502369474065508674,
         8: -8.87285693353062954433549289258, 9: 1.23605671757943030647266201528e1,
         10: 6.43392746015763530355970484046e-1},
    ),
    b=_B853,
    error=(
        {0: 0.1312004499419488073250102996e-1, 5: -0.1225156446376204440720569753e1, 6: -0.4957589496572501915214079952,
         7: 0.1664377182454986536961530415e1, 8: -0.3503288487499736816886487290, 9: 0.3341791187130174790297318841,
         10: 0.8192320648511571246570742613e-1, 11: -0.2235530786388629525884427845e-1},
        {j: value - _BHH.get(j, 0.0) for j, value in _B853.items()},
    ),
    end_in_error=False,
    exponent=1 / 8,
    memory=0.0,
    shrink=1 / 3,
    grow=6.0,
)  # fmt: skip


_ROOT = sqrt(6.0)
HEM4 = Tableau(
    order=4,
    nodes=(0.0, 3 / 10, (4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0),
    a=(
        {},
        {0: 3 / 10},
        {0: (1 + _ROOT) / 30, 1: (11 - 4 * _ROOT) / 30},
        {0: (-79 - 31 * _ROOT) / 150, 1: (-1 - 4 * _ROOT) / 30, 2: (24 + 11 * _ROOT) / 25},
        {0: (14 + 5 * _ROOT) / 6, 1: (-8 + 7 * _ROOT) / 6, 2: (-9 - 7 * _ROOT) / 4, 3: (9 - _ROOT) / 4},
    ),
    b={2: (16 - _ROOT) / 36, 3: (16 + _ROOT) / 36, 4: 1 / 9},
    error=({},),
    end_in_error=False,
    exponent=0.25,
    memory=0.0,
    shrink=0.2,
    grow=5.0,
)
"""V. Brasey, E. Hairer, SIAM J. Numer. Anal. 30 (1993) 538: half-explicit, order 4 on index 2. It has no estimate."""
