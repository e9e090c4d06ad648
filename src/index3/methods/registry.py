"""The methods by name, and how a user's choice becomes one."""

from __future__ import annotations

from typing import Any

from index3.errors import ModelError
from index3.methods.method import METHODS, Method

AUTO = "hht-i3"
"""The method whose options go with `method="auto"`; `analysis.choice` decides which one runs."""


def choose(method: Any, given: dict[str, Any]) -> Any:
    """The method a user asked for: a key with options, or an instance without.

    Raises
    ------
    ModelError : unknown method or option, or options beside an instance.
    """
    if isinstance(method, Method):
        if given:
            raise ModelError(f"Options {', '.join(given)} were given beside a {type(method).__name__}. Set them in it.")
        return method
    if isinstance(method, type) and issubclass(method, Method):
        return method(**_known(method, given))
    if not isinstance(method, str) or (method != "auto" and method not in METHODS):
        import difflib  # only for a mistake

        near = difflib.get_close_matches(str(method).lower().replace("_", "-"), METHODS, n=2)
        advice = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"Choose {', '.join(('auto', *METHODS))}."
        raise ModelError(f"There is no method {method!r}. {advice}")
    chosen = METHODS[AUTO if method == "auto" else method]
    return chosen(**_known(chosen, given))


def _known(method: type[Method], given: dict[str, Any]) -> dict[str, Any]:
    known = method.options
    for name in given:
        if name not in known:
            import difflib  # only for a mistake

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
        "Keys for `simulate(model, span, method=...)`.",
        'By default, `method="auto"` takes `dopri5` or `dop853` where the',
        "motion is not stiff, `radau5` where it is, and `hht-i3` at loose tolerances (rtol above 1e-4, no first-order",
        "states) or where the others fail; `result.message` says which and why. [Choosing a method]"
        "(../tutorials/choosing_a_method.md)",
        "explains the families; `index3 compare MODEL` measures all methods on your own model.",
        "",
        "| key | order | family | stiff | for | source |",
        "|---|---|---|---|---|---|",
    ]
    for key, method in METHODS.items():
        stiff = "yes" if method.stiff else "no"
        lines.append(
            f"| `{key}` | {order_text(method)} | {method.family} | {stiff} | {method.summary} | {method.paper} |"
        )
    lines += [
        "",
        "## Models that a method does not accept",
        "",
        "An error names the element before the first step.",
        "",
    ]
    lines += ["| model | not accepted by |", "|---|---|"]
    for what, refused in (
        (
            "forces that depend on reactions or accelerations: `JointFriction`, `AddedMass`, "
            "`UserForce(reactions=True)`, `UserForce(accelerations=True)`",
            [key for key, method in METHODS.items() if not method.takes_reactions],
        ),
        (
            "velocity-level constraints: rolling, `KnifeEdge`, `RelativeAngularVelocity`",
            [key for key, method in METHODS.items() if not method.takes_velocity_rows],
        ),
        (
            "flexible bodies and more than 200 degrees of freedom",
            [key for key, method in METHODS.items() if method.family in ("state space", "descriptor", "first order")],
        ),
        ("more than 200 degrees of freedom", ["rosenbrock4"]),
    ):
        lines.append(f"| {what} | {', '.join(f'`{key}`' for key in refused)} |")
    lines += [
        "",
        "## Options",
        "",
        "Each with its default; `help(index3.methods.HHT)` and the like say what they mean.",
        "",
    ]
    for key, method in METHODS.items():
        lines.append(f"- `{key}`: " + ", ".join(f"`{name}={value!r}`" for name, value in method.options.items()))
    return "\n".join(lines) + "\n"
