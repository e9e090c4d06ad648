"""The methods by name, and how a user's choice becomes one."""

from __future__ import annotations

import difflib
from typing import Any

from index3.errors import ModelError
from index3.methods.augmented.augmented_method import AugmentedIndex1, AugmentedIndex3, MultiIndex
from index3.methods.direct.bdf_method import BDFIndex3, BDFStabilised
from index3.methods.direct.generalized_alpha_method import GeneralizedAlpha
from index3.methods.direct.hht_method import HHT
from index3.methods.explicit.adams_method import Adams
from index3.methods.explicit.runge_kutta_method import Dop853, Dopri5
from index3.methods.method import Method
from index3.methods.state_space.rosenbrock_method import Rosenbrock4
from index3.methods.state_space.sdirk_method import (
    DescriptorSDIRK4,
    DescriptorTrapezoidal,
    FirstOrderSDIRK4,
    StateSpaceTrapezoidal,
)
from index3.methods.tlismni.tlismni_method import (
    TlismniAdams3,
    TlismniAdams4,
    TlismniBDF2,
    TlismniHHT,
    TlismniTrapezoidal,
)

METHODS: dict[str, type[Method]] = {
    "hht-i3": HHT,
    "generalized-alpha": GeneralizedAlpha,
    "bdf-i3": BDFIndex3,
    "bdf-si2": BDFStabilised,
    "al-index1": AugmentedIndex1,
    "al-index3": AugmentedIndex3,
    "multi-index": MultiIndex,
    "adams": Adams,
    "dopri5": Dopri5,
    "dop853": Dop853,
    "tlismni-trapezoidal": TlismniTrapezoidal,
    "tlismni-adams3": TlismniAdams3,
    "tlismni-adams4": TlismniAdams4,
    "tlismni-hht": TlismniHHT,
    "tlismni-bdf2": TlismniBDF2,
    "statespace-trapezoidal": StateSpaceTrapezoidal,
    "descriptor-trapezoidal": DescriptorTrapezoidal,
    "descriptor-sdirk4": DescriptorSDIRK4,
    "firstorder-sdirk4": FirstOrderSDIRK4,
    "rosenbrock4": Rosenbrock4,
}
"""Key -> class; a class has `order, family, implicit, stiff, paper, summary`, and its fields are its options."""
AUTO = "hht-i3"
"""The method whose options go with `method="auto"`; `analysis.choice` decides which one runs."""


def choose(method: Any, given: dict[str, Any]) -> Any:
    """The method a user asked for: a key with options, or an instance without.

    Raises
    ------
    ModelError : unknown method or option, or options beside an instance.
    """
    if isinstance(method, tuple(METHODS.values())):
        if given:
            raise ModelError(f"Options {', '.join(given)} were given beside a {type(method).__name__}. Set them in it.")
        return method
    if isinstance(method, type) and method in METHODS.values():
        return method(**_known(method, given))
    if not isinstance(method, str) or (method != "auto" and method not in METHODS):
        near = difflib.get_close_matches(str(method), METHODS, n=2)
        advice = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"Choose {', '.join(('auto', *METHODS))}."
        raise ModelError(f"There is no method {method!r}. {advice}")
    chosen = METHODS[AUTO if method == "auto" else method]
    return chosen(**_known(chosen, given))


def _known(method: type[Method], given: dict[str, Any]) -> dict[str, Any]:
    known = method.options
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            advice = f"Did you mean '{near[0]}'?" if near else f"It takes {', '.join(known)}."
            raise ModelError(f"Method '{method.key}' has no option '{name}'. {advice}")
    return given


def order_text(method: type[Method]) -> str:
    """A method's order, or the range of its orders."""
    return "-".join(map(str, method.order)) if isinstance(method.order, tuple) else str(method.order)


def methods() -> str:
    """A table of the methods: key, order, family, what each is for; printed, and returned as text."""
    lines = [f"{'key':<24}{'order':<7}{'family':<13}{'stiff':<7}for"]
    for key, method in METHODS.items():
        stiff = "yes" if method.stiff else "no"
        lines.append(f"{key:<24}{order_text(method):<7}{method.family:<13}{stiff:<7}{method.summary}")
        lines.append(f"{'':24}options: {', '.join(f'{k}={v!r}' for k, v in method.options.items())}")
    text = "\n".join(lines)
    print(text)
    return text


def methods_page() -> str:
    """The page docs/reference/methods.md."""
    lines = [
        "# Methods",
        "",
        "Keys for `simulate(model, span, method=...)`; made from the registry by `registry.methods_page()`.",
        '`method="auto"` takes `dop853` or `dopri5` where the motion is not stiff, `hht-i3` elsewhere;',
        "`result.message` says which and why.",
        "Which is best on your model: `index3 compare MODEL`.",
        "",
        "| key | order | family | stiff | for | source |",
        "|---|---|---|---|---|---|",
    ]
    for key, method in METHODS.items():
        stiff = "yes" if method.stiff else "no"
        lines.append(
            f"| `{key}` | {order_text(method)} | {method.family} | {stiff} | {method.summary} | {method.paper} |"
        )
    lines += ["", "## Options", ""]
    for key, method in METHODS.items():
        lines.append(f"- `{key}`: " + ", ".join(f"`{name}={value!r}`" for name, value in method.options.items()))
    return "\n".join(lines) + "\n"
