"""Formulas as text: a small language of one variable, evaluated by a walk over its syntax tree, never as Python code.

Only what is listed here has a meaning: numbers, the variable, pi, e, + - * / **, comparisons inside where(...), and the
functions of `index3.files.jets`. Everything else is an error that says where it stands.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable
from reprlib import repr as short
from typing import Any, ClassVar, NoReturn

from index3.bodies.smooth import SmoothFunction
from index3.errors import ModelError
from index3.files import jets
from index3.files.jets import Jet

LONGEST = 10_000
"""Characters of a formula; what is longer is a table in disguise."""
DEEPEST = 200
"""Levels of nesting, each a Python call in every evaluation; a sum of n terms has n."""
BESIDE, SAME = 1e-12, 1e-6
"""How far beside a number of a formula its two sides are looked at, and part of a value by which they may differ."""
CONSTANTS = {"pi": math.pi, "e": math.e}
OPERATORS: dict[type[ast.operator], Callable[[Jet, Jet], Jet]] = {
    ast.Add: jets.add, ast.Sub: jets.subtract, ast.Mult: jets.multiply, ast.Div: jets.divide, ast.Pow: jets.power,
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
}  # fmt: skip
WORDS = {
    ast.Attribute: "a dot", ast.Subscript: "[ ]", ast.Lambda: "lambda", ast.IfExp: "if", ast.BoolOp: "and / or",
    ast.List: "a list", ast.Tuple: "a tuple", ast.Dict: "a dict", ast.JoinedStr: "text", ast.NamedExpr: ":=",
    ast.Starred: "a star",
}  # fmt: skip

Node = Callable[[Jet], Jet]


class Expression(SmoothFunction):
    """A function of one variable written as a formula, with exact first and second derivatives.

    Parameters
    ----------
    text : formula of numbers, the variable, `pi`, `e`, + - * / **, and the functions sin cos tan asin acos atan atan2
        sinh cosh tanh exp log sqrt abs min max; `step(x, x0, y0, x1, y1)` goes from y0 to y1 along a cubic, `step5`
        along a polynomial of degree 5 with continuous curvature; `where(condition, a, b)` is a where a comparison
        holds, else b
    variable : name of the variable, t for time

    As f of a `Motion` it supplies the derivatives as well. It is evaluated as a formula, never run as Python, so text
    from others can do no harm.

    Raises
    ------
    ModelError : what is not part of the language, with its column.

    >>> drive = Expression("0.5*sin(2*t)")
    >>> drive(0.0), drive.derivative(0.0), drive.second_derivative(0.0)
    (0.0, 1.0, 0.0)
    """

    told: ClassVar[tuple[str, ...]] = ("text", "variable")  # what all else follows from

    def __init__(self, text: str, variable: str = "t") -> None:
        if not isinstance(text, str) or not text.strip():
            raise ModelError(f"Expression is {short(text)}. Give a formula as text, for example '0.5*sin(2*t)'.")
        if not isinstance(variable, str) or not variable.isidentifier() or variable in (*CONSTANTS, *jets.FUNCTIONS):
            raise ModelError(f"Expression has the variable {short(variable)}. Give a letter or a word, such as 't'.")
        if len(text) > LONGEST:
            raise ModelError(f"Expression has {len(text)} characters, more than {LONGEST}. Use a table.")
        self.text, self.variable = text, variable
        self._tree = parse(text)
        self._node = Translator(text, variable).node(self._tree, 0)
        self._last: tuple[float, Jet] = (math.nan, (math.nan, math.nan, math.nan))

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.text, self.variable)

    def __deepcopy__(self, memo: dict[int, Any]) -> Expression:
        return self  # never changes, but for the memory of its last value

    def __repr__(self) -> str:
        variable = "" if self.variable == "t" else f", {self.variable!r}"
        return f"Expression({self.text!r}{variable})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and (self.text, self.variable) == (other.text, other.variable)

    def __hash__(self) -> int:
        return hash((self.text, self.variable))

    def jet(self, x: float) -> Jet:
        """Value, first and second derivative.

        Raises
        ------
        ModelError : the formula has no finite value at x.
        """
        last = self._last  # read once: threads may share an expression
        if x != last[0]:
            try:
                values = self._node((float(x), 1.0, 0.0))
                problem = "" if all(map(math.isfinite, values)) else "it or a derivative is not finite"
            except OverflowError:
                problem = "its numbers become too large"
            except (ZeroDivisionError, ValueError) as error:
                problem = str(error)
            if problem:
                raise ModelError(f"{self!r} has no value at {self.variable} = {x:.6g}: {problem}.")
            self._last = last = (x, values)
        return last[1]

    def __call__(self, x: float) -> float:
        """The value."""
        return self.jet(x)[0]

    def derivative(self, x: float) -> float:
        """The first derivative."""
        return self.jet(x)[1]

    def second_derivative(self, x: float) -> float:
        """The second derivative."""
        return self.jet(x)[2]

    def breaks(self, span: tuple[float, float]) -> list[float]:
        """Numbers of the formula, as in step(...) and where(...), at which it or a derivative jumps."""
        values = [node.value for node in ast.walk(self._tree) if isinstance(node, ast.Constant)]
        numbers = {float(value) for value in values if isinstance(value, int | float)}
        found = []
        for x in sorted(number for number in numbers if span[0] < number < span[1]):
            near = BESIDE * max(abs(x), span[1] - span[0])
            before, after = self.jet(x - near), self.jet(x + near)
            if any(abs(b - a) > SAME * max(abs(a), abs(b)) for a, b in zip(before, after, strict=True)):
                found.append(x)
        return found

    def scaled(self, output: float, variable: float) -> Expression:
        """output * f(x / variable): the same function in other units; a new formula unless both are 1."""
        if output == variable == 1.0:
            return self
        text = self.text
        if variable != 1.0:
            text = ast.unparse(Divided(self.variable, variable).visit(parse(text)))
        return Expression(text if output == 1.0 else f"{output!r}*({text})", self.variable)


class Divided(ast.NodeTransformer):
    """Puts x / scale for the variable x."""

    def __init__(self, variable: str, scale: float) -> None:
        self.variable, self.scale = variable, scale

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The variable, divided; other names as they are."""
        return ast.BinOp(node, ast.Div(), ast.Constant(self.scale)) if node.id == self.variable else node


def parse(text: str) -> ast.expr:
    """The syntax tree of one expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        place = f" at column {error.offset}" if error.offset else ""
        problem = error.msg.partition(";")[0]  # the rest is advice for programs
        raise ModelError(f"Expression {short(text)}{place}: {problem}.") from None
    except (RecursionError, MemoryError):
        raise ModelError(f"Expression {short(text)} is nested too deeply. Use a table.") from None
    except ValueError:  # null characters, numbers with thousands of digits
        raise ModelError(f"Expression {short(text)} has a character or number that no formula has.") from None


class Translator:
    """Turns a syntax tree into nested functions of jets; the only place that decides what has a meaning."""

    def __init__(self, text: str, variable: str) -> None:
        self.text, self.variable = text, variable

    def fail(self, node: ast.AST, problem: str) -> NoReturn:
        """Refuse a part of the formula."""
        column = getattr(node, "col_offset", 0) + 1
        raise ModelError(f"Expression {short(self.text)} at column {column}: {problem}")

    def node(self, tree: ast.expr, depth: int) -> Node:
        """The function of one part of the tree."""
        if depth > DEEPEST:
            self.fail(tree, f"nested more than {DEEPEST} levels deep. Use a table.")
        if isinstance(tree, ast.Constant):
            return self.number(tree)
        if isinstance(tree, ast.Name):
            return self.name(tree)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub | ast.UAdd):
            inner = self.node(tree.operand, depth + 1)
            return (lambda x: jets.negate(inner(x))) if isinstance(tree.op, ast.USub) else inner
        if isinstance(tree, ast.BinOp):
            return self.operation(tree, depth)
        if isinstance(tree, ast.Call):
            return self.call(tree, depth)
        if isinstance(tree, ast.Compare):
            self.fail(tree, "a comparison belongs in where(condition, a, b).")
        self.fail(tree, f"{WORDS.get(type(tree), type(tree).__name__)} has no meaning in a formula.")

    def number(self, tree: ast.Constant) -> Node:
        """A number."""
        if isinstance(tree.value, bool) or not isinstance(tree.value, int | float):
            self.fail(tree, f"{short(tree.value)} is not a number.")
        try:
            value = jets.constant(float(tree.value))
        except OverflowError:
            value = jets.constant(math.inf)
        if not math.isfinite(value[0]):
            self.fail(tree, "the number is too large.")
        return lambda x: value

    def name(self, tree: ast.Name) -> Node:
        """The variable or a constant."""
        if tree.id == self.variable:
            return lambda x: x
        if tree.id in CONSTANTS:
            value = jets.constant(CONSTANTS[tree.id])
            return lambda x: value
        if tree.id in jets.FUNCTIONS:
            self.fail(tree, f"the function {tree.id} needs its arguments in parentheses.")
        self.fail(tree, f"unknown name '{tree.id}'. {self.near(tree.id, [self.variable, *CONSTANTS])}")

    def operation(self, tree: ast.BinOp, depth: int) -> Node:
        """An operation on two parts."""
        if isinstance(tree.op, ast.BitXor):
            self.fail(tree, "^ has no meaning here. Write ** for a power.")
        if type(tree.op) not in OPERATORS:
            self.fail(tree, "only + - * / ** are known.")
        operator = OPERATORS[type(tree.op)]
        left, right = self.node(tree.left, depth + 1), self.node(tree.right, depth + 1)
        return lambda x: operator(left(x), right(x))

    def call(self, tree: ast.Call, depth: int) -> Node:
        """A function of the list."""
        if not isinstance(tree.func, ast.Name):
            self.fail(tree, f"{WORDS.get(type(tree.func), 'this')} has no meaning in a formula.")
        name, known = tree.func.id, [*jets.FUNCTIONS, "where"]
        if name not in known:
            self.fail(tree, f"unknown function '{name}'. {self.near(name, known)}")
        if tree.keywords:
            self.fail(tree, f"{name} takes its arguments without names.")
        if name == "where":
            return self.where(tree, depth)
        function, least, most = jets.FUNCTIONS[name]
        if not least <= len(tree.args) <= most:
            self.fail(tree, f"{name} takes {least if least == most else f'{least} to {most}'} arguments, "
                            f"not {len(tree.args)}.")  # fmt: skip
        parts = [self.node(part, depth + 1) for part in tree.args]
        return lambda x: function(*(part(x) for part in parts))

    def where(self, tree: ast.Call, depth: int) -> Node:
        """One of two values, by a comparison."""
        if len(tree.args) != 3 or not isinstance(tree.args[0], ast.Compare):
            self.fail(tree, "give where(condition, a, b) with a comparison such as t < 1 first.")
        compare = tree.args[0]
        tests = []
        for comparison in compare.ops:
            if type(comparison) not in COMPARISONS:
                self.fail(compare, "only < <= > >= are known.")
            tests.append(COMPARISONS[type(comparison)])
        sides = [self.node(part, depth + 1) for part in (compare.left, *compare.comparators)]
        yes, no = (self.node(part, depth + 1) for part in tree.args[1:])

        def choose(x: Jet) -> Jet:
            values = [side(x)[0] for side in sides]
            holds = all(test(a, b) for test, a, b in zip(tests, values, values[1:], strict=False))
            return yes(x) if holds else no(x)

        return choose

    def near(self, word: str, known: list[str]) -> str:
        """Help with a misspelt name."""
        close = difflib.get_close_matches(word, known, n=1)
        return f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
