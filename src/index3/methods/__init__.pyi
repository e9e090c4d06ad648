"""The classes of methods for type checkers and editors; written by `python go.py declare`, not to be edited."""

from index3.methods.augmented.augmented_method import AugmentedIndex1 as AugmentedIndex1
from index3.methods.augmented.augmented_method import AugmentedIndex3 as AugmentedIndex3
from index3.methods.augmented.augmented_method import MultiIndex as MultiIndex
from index3.methods.direct.bdf_method import BDFIndex3 as BDFIndex3
from index3.methods.direct.bdf_method import BDFStabilized as BDFStabilized
from index3.methods.direct.generalized_alpha_method import GeneralizedAlpha as GeneralizedAlpha
from index3.methods.direct.hht_method import HHT as HHT
from index3.methods.direct.radau_method import Radau5 as Radau5
from index3.methods.explicit.adams_method import Adams as Adams
from index3.methods.explicit.dop853_method import Dop853 as Dop853
from index3.methods.explicit.half_explicit_method import Hem4 as Hem4
from index3.methods.explicit.runge_kutta_method import Dopri5 as Dopri5
from index3.methods.state_space.rosenbrock_method import Rosenbrock4 as Rosenbrock4
from index3.methods.state_space.sdirk_method import DescriptorSDIRK4 as DescriptorSDIRK4
from index3.methods.state_space.sdirk_method import DescriptorTrapezoidal as DescriptorTrapezoidal
from index3.methods.state_space.sdirk_method import FirstOrderSDIRK4 as FirstOrderSDIRK4
from index3.methods.state_space.sdirk_method import StateSpaceTrapezoidal as StateSpaceTrapezoidal
from index3.methods.tlismni.tlismni_method import TlismniAdams3 as TlismniAdams3
from index3.methods.tlismni.tlismni_method import TlismniAdams4 as TlismniAdams4
from index3.methods.tlismni.tlismni_method import TlismniBDF2 as TlismniBDF2
from index3.methods.tlismni.tlismni_method import TlismniHHT as TlismniHHT
from index3.methods.tlismni.tlismni_method import TlismniTrapezoidal as TlismniTrapezoidal
