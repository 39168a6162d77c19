"""Programs in and around TorchScript's subset, written at random: what torch and tsguard must agree on.

A program is the source of one ``nn.Module`` and its example inputs.  Most expressions have
the type that their place wants; some, by intent, do not, and some statements are ones that
TorchScript does not have.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

HEADER = """\
import math
from typing import Dict, Final, List, NamedTuple, Optional, Tuple, Union

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SCALE = 2
FACTOR: Final = 3


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


def scale(x: Tensor, factor: float) -> Tensor:
    return x * factor


def double(x):
    return x + x


def pick(values: List[int], index: int = 0) -> int:
    return values[index]


"""
TYPES = (
    "Tensor", "int", "float", "bool", "str", "List[int]", "List[float]", "List[Tensor]", "Optional[Tensor]",
    "Optional[int]", "Tuple[Tensor, Tensor]", "Tuple[int, int]", "Dict[str, Tensor]", "Pair",
)  # fmt: skip
_INPUTS = {
    "Tensor": "torch.rand(4, 4)", "int": "2", "float": "0.5", "bool": "True", "str": "'a'", "List[int]": "[1, 2]",
    "List[float]": "[0.5, 1.5]", "List[Tensor]": "[torch.rand(4, 4), torch.rand(4, 4)]",
    "Optional[Tensor]": "torch.rand(4, 4)", "Optional[int]": "None", "Tuple[int, int]": "(1, 2)",
    "Tuple[Tensor, Tensor]": "(torch.rand(4, 4), torch.rand(4, 4))", "Dict[str, Tensor]": "{'a': torch.rand(4, 4)}",
    "Pair": "Pair(torch.rand(4, 4), torch.rand(4, 4))",
}  # fmt: skip
_ATTRIBUTES = (
    ("Tensor", "nn.Parameter(torch.rand(4, 4))"), ("int", "3"), ("float", "0.5"), ("bool", "True"), ("str", "'sum'"),
    ("List[int]", "[1, 2, 3]"), ("List[float]", "[0.5]"), ("Tuple[int, int]", "(2, 2)"), ("None", "None"),
    ("List[Tensor]", "[torch.rand(4, 4)]"), ("Dict[str, Tensor]", "{'a': torch.rand(4, 4)}"), ("", "[]"),
    ("", "lambda x: x"), ("", "torch.relu"), ("", "double"), ("", "{1, 2}"), ("", "{}"), ("", "object()"),
    ("", "[1, 'a']"), ("", "torch.float32"), ("", "torch.device('cpu')"), ("Optional[Tensor]", "None"),
)  # fmt: skip


@dataclass
class Writer:
    """Writes one program; ``error`` is the chance that an expression is not of the wanted type."""

    random: Random
    error: float = 0.015
    variables: list[tuple[str, str]] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    methods: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    containers: list[str] = field(default_factory=list)
    depth: int = 0
    count: int = 0
    loops: int = 0

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, options: list[str] | tuple[str, ...]) -> str:
        return options[self.random.randrange(len(options))]

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    # -- expressions ---------------------------------------------------------------------------

    def expression(self, wanted: str) -> str:
        if self.chance(self.error):
            wanted = self.choose(TYPES)
        known = [name for name, type_ in (*self.variables, *self.attributes) if type_ == wanted]
        if known and (self.depth > 3 or self.chance(0.5)):
            return self.choose(known)
        self.depth += 1
        try:
            produced = [f for f in _PRODUCTIONS[wanted] if self.depth <= 3] or _LEAVES[wanted]
            return produced[self.random.randrange(len(produced))](self)
        finally:
            self.depth -= 1

    def called(self, wanted: str) -> str:
        fitting = [m for m in self.methods if m[2] == wanted]
        if not fitting:
            return self.expression(wanted)
        name, parameters, _ = fitting[self.random.randrange(len(fitting))]
        return f"self.{name}({', '.join(self.expression(p) for p in parameters)})"

    # -- statements ----------------------------------------------------------------------------

    def block(self, size: int) -> list[str]:
        known = len(self.variables)
        lines = [line for _ in range(size) for line in self.statement()]
        del self.variables[known:]
        return lines or ["pass"]

    def statement(self) -> list[str]:
        kinds: list[tuple[int, Callable[[], list[str]]]] = [
            (8, self.assignment), (3, self.reassignment), (2, self.augmented), (4, self.branch), (3, self.loop),
            (2, self.container_statement), (2, self.unpacking), (1, self.check), (1, self.refinement), (1, self.odd),
        ]  # fmt: skip
        if self.loops > 1:
            kinds = [kind for kind in kinds if kind[1] not in (self.loop, self.branch)]
        total = self.random.randrange(sum(weight for weight, _ in kinds))
        for weight, kind in kinds:
            if total < weight:
                return kind()
            total -= weight
        raise AssertionError

    def assignment(self) -> list[str]:
        type_ = self.choose(TYPES)
        value = self.expression(type_)
        name = self.name()
        annotation = f": {type_}" if self.chance(0.3) or type_.startswith("Optional") else ""
        self.variables.append((name, type_))
        return [f"{name}{annotation} = {value}"]

    def reassignment(self) -> list[str]:
        known = [(name, type_) for name, type_ in self.variables if type_ in TYPES]
        if not known:
            return self.assignment()
        name, type_ = known[self.random.randrange(len(known))]
        return [f"{name} = {self.expression(type_)}"]

    def augmented(self) -> list[str]:
        fitting = [(n, t) for n, t in self.variables if t in ("Tensor", "int", "float", "str", "List[int]")]
        if not fitting:
            return self.assignment()
        name, type_ = fitting[self.random.randrange(len(fitting))]
        sign = (
            "+"
            if type_ in ("str", "List[int]")
            else self.choose(["+", "-", "*", "/" if type_ != "int" else "+"])
        )
        return [f"{name} {sign}= {self.expression(type_)}"]

    def branch(self) -> list[str]:
        test = self.expression("bool")
        self.loops += 1
        then, otherwise = self.block(1 + self.random.randrange(2)), self.block(1)
        self.loops -= 1
        if self.chance(0.4):
            name, type_ = self.name(), self.choose(TYPES)
            then.append(f"{name} = {self.expression(type_)}")
            otherwise.append(f"{name} = {self.expression(type_)}")
            self.variables.append((name, type_))
            return [f"if {test}:", *_indented(then), "else:", *_indented(otherwise)]
        if self.chance(0.2):
            return [f"if {test}:", *_indented([*then, self.returned()])]
        if self.chance(0.15):
            return [f"if {test}:", *_indented([*then, "raise ValueError('no')"])]
        return (
            [f"if {test}:", *_indented(then)]
            if self.chance(0.5)
            else [f"if {test}:", *_indented(then), "else:", *_indented(otherwise)]
        )

    def returned(self) -> str:
        return f"return {self.expression(self.result)}"

    result: str = "Tensor"

    def loop(self) -> list[str]:
        name = self.name()
        known = len(self.variables)
        self.loops += 1
        head = self._loop_head(name)
        body = self.block(1 + self.random.randrange(2))
        if self.chance(0.1):
            body.append(self.choose(["break", "continue"]))
        self.loops -= 1
        del self.variables[known:]
        return [head, *_indented(body)]

    def _loop_head(self, name: str) -> str:
        kind = self.random.randrange(7)
        if kind == 0:
            self.variables.append((name, "int"))
            return f"for {name} in range({self.expression('int')}):"
        if kind == 1:
            self.variables.append((name, "Tensor"))
            return f"for {name} in {self.expression('List[Tensor]')}:"
        if kind == 2 and self.containers:
            layer = self.choose(self.containers)
            self.variables.append((name, ""))
            return f"for {name} in self.{layer}:"
        if kind == 3:
            self.variables += [(f"{name}i", "int"), (name, "int")]
            return f"for {name}i, {name} in enumerate({self.expression('List[int]')}):"
        if kind == 4:
            self.variables += [(name, "int"), (f"{name}t", "Tensor")]
            return f"for {name}, {name}t in zip({self.expression('List[int]')}, {self.expression('List[Tensor]')}):"
        if kind == 5:
            self.variables.append((name, "Tensor"))
            return f"for {name} in {self.expression('Tensor')}:"
        return f"while {self.expression('bool')}:"

    def container_statement(self) -> list[str]:
        lists = [(n, t) for n, t in self.variables if t.startswith(("List[", "Dict["))]
        if not lists:
            return self.assignment()
        name, type_ = lists[self.random.randrange(len(lists))]
        if type_.startswith("Dict"):
            return [f"{name}['b'] = {self.expression('Tensor')}"]
        element = type_[5:-1]
        return [
            self.choose(
                [
                    f"{name}.append({self.expression(element)})",
                    f"{name}[0] = {self.expression(element)}",
                    f"{name}.extend({self.expression(type_)})",
                    f"{name}.insert(0, {self.expression(element)})",
                ]
            )
        ]

    def unpacking(self) -> list[str]:
        first, second = self.name(), self.name()
        type_ = self.choose(["Tuple[Tensor, Tensor]", "Tuple[int, int]", "Pair", "List[int]"])
        value = self.expression(type_)
        element = "int" if "int" in type_ else "Tensor"
        self.variables += [(first, element), (second, element)]
        return [f"{first}, {second} = {value}"]

    def check(self) -> list[str]:
        test = self.expression("bool")
        return [self.choose([f"assert {test}", f"assert {test}, 'no'", f"print({test})"])]

    def refinement(self) -> list[str]:
        optional = [n for n, t in self.variables if t == "Optional[Tensor]"]
        if not optional:
            return self.assignment()
        name = self.choose(optional)
        out = self.name()
        self.variables.append((out, "Tensor"))
        forms = [
            [f"assert {name} is not None", f"{out} = {name} + 1"],
            [
                f"if {name} is not None:",
                f"    {out} = {name}",
                "else:",
                f"    {out} = {self.expression('Tensor')}",
            ],
            [f"{out} = {name} if {name} is not None else {self.expression('Tensor')}"],
            [f"if {name} is None:", f"    {name} = {self.expression('Tensor')}", f"{out} = {name} * 2"],
            [f"{out} = {name} + 1"],
        ]
        return forms[self.random.randrange(len(forms))]

    def odd(self) -> list[str]:
        if not self.chance(self.error * 20):
            return self.assignment()
        tensor = self.expression("Tensor")
        return list(
            self.choose(
                [
                    f"f = lambda y: y + {tensor}", "try:\n    pass\nexcept ValueError:\n    pass", "import math as m",
                    "global SCALE", f"w = {{1, {self.expression('int')}}}", f"print((y := {tensor}))",
                    "def inner(y):\n    return y", f"w = [t for t in {self.expression('List[Tensor]')} if t is not None]",
                    f"w = torch.cat(*[{tensor}])", f"w = f'{{{self.expression('int')}:d}}'", "w = [*(1, 2)]",
                    f"w = {tensor}.numpy()", f"w = {self.expression('List[int]')}[::2]", "w: int", "del SCALE",
                    "w = {'a': 1, **{}}", f"w = {self.expression('Tuple[int, int]')}[{self.expression('int')}]",
                    f"with torch.no_grad():\n    w = {tensor}", "for i in range(2):\n    pass\nelse:\n    pass",
                    f"w = SCALE * {tensor}", f"w = FACTOR * {tensor}", f"w = +{self.expression('int')}",
                    f"w = torch.tensor({self.expression('List[float]')})", f"w = not {self.expression('List[int]')}",
                    f"w = {self.expression('int')} or {self.expression('int')}", "w, *rest = (1, 2, 3)",
                    f"w = {{k: v for k, v in {self.expression('Dict[str, Tensor]')}.items()}}", "w = b'a'",
                    f"w = {self.expression('Dict[str, Tensor]')}.get('a')", "yield 1", f"w = super().forward({tensor})",
                    f"w = math.sqrt({self.expression('int')})", f"w = sorted({self.expression('List[int]')})",
                    f"w = type({tensor})", f"w = [1, 2.5, {self.expression('int')}]", "w = None\nw = 1",
                    f"w = isinstance({tensor}, Tensor)", f"w = {self.expression('str')}.split(',')[0].upper()",
                    f"w = max({self.expression('int')}, {self.expression('int')}, 1)", f"w = abs({self.expression('float')})",
                ]
            ).split("\n")
        )  # fmt: skip

    # -- the module ----------------------------------------------------------------------------

    def program(self) -> Program:
        constructor = ["super().__init__()"]
        annotations: list[str] = []
        for _ in range(self.random.randrange(4)):
            type_, value = _ATTRIBUTES[self.random.randrange(len(_ATTRIBUTES))]
            name = f"self.a{len(constructor)}"
            constructor.append(f"{name} = {value}")
            self.attributes.append((name, type_))
            if type_ and type_ != "None" and self.chance(0.15):
                annotations.append(f"{name[5:]}: {type_}")
        constructor += self._layers()
        methods = [line for _ in range(self.random.randrange(3)) for line in self.method()]
        signature, inputs = self._forward_signature()
        body = [line for _ in range(2 + self.random.randrange(4)) for line in self.statement()]
        lines = [
            *annotations, "def __init__(self):", *_indented(constructor), "", *methods,
            f"def forward({signature}):", *_indented([*body, self.returned()]),
        ]  # fmt: skip
        source = HEADER + "class Net(nn.Module):\n" + "\n".join(_indented(lines)) + "\n"
        return Program(source, f"({', '.join(inputs)},)")

    def _layers(self) -> list[str]:
        lines = []
        for name, made in (
            ("linear", "nn.Linear(4, 4)"), ("drop", "nn.Dropout(0.0)"), ("maybe", "None"),
            ("layers", "nn.ModuleList([nn.Linear(4, 4), nn.ReLU()])"), ("stack", "nn.Sequential(nn.Linear(4, 4), nn.ReLU())"),
            ("named", "nn.ModuleDict({'one': nn.Linear(4, 4)})"), ("gru", "nn.GRU(4, 4)"), ("norm", "nn.LayerNorm(4)"),
        ):  # fmt: skip
            if self.chance(0.3):
                lines.append(f"self.{name} = {made}")
                self.methods.append((name, ("Tensor",), {"gru": "Tuple[Tensor, Tensor]"}.get(name, "Tensor")))
                if name in ("layers", "stack"):
                    self.containers.append(name)
        if self.chance(0.2):
            lines.append("self.register_buffer('table', torch.rand(4, 4))")
            self.attributes.append(("self.table", "Tensor"))
        self.methods = [
            m for m in self.methods if m[0] not in ("layers", "named", "maybe") or self.chance(self.error * 4)
        ]
        return lines

    def method(self) -> list[str]:
        name, result = f"m{len(self.methods)}", self.choose(TYPES)
        types = tuple(self.choose(TYPES) for _ in range(1 + self.random.randrange(2)))
        outer, outer_result = self.variables, self.result
        self.variables, self.result = [], result
        parameters = ["self"]
        for index, type_ in enumerate(types):
            annotated = type_ != "Tensor" or self.chance(0.5)
            parameters.append(
                f"p{index}: {type_}" if annotated and not self.chance(self.error * 4) else f"p{index}"
            )
            self.variables.append((f"p{index}", type_))
        arrow = f" -> {result}" if self.chance(0.5) else ""
        body = [line for _ in range(1 + self.random.randrange(2)) for line in self.statement()] + [
            self.returned()
        ]
        mark = (
            self.choose(["@torch.jit.export", "@torch.jit.ignore", "@torch.jit.unused"])
            if self.chance(0.08)
            else ""
        )
        self.variables, self.result = outer, outer_result
        self.methods.append((name, types, result))
        return [
            *([mark] if mark else []),
            f"def {name}({', '.join(parameters)}){arrow}:",
            *_indented(body),
            "",
        ]

    def _forward_signature(self) -> tuple[str, list[str]]:
        parameters, inputs = ["self", "x" if self.chance(0.5) else "x: Tensor"], [_INPUTS["Tensor"]]
        self.variables.append(("x", "Tensor"))
        for index in range(self.random.randrange(3)):
            type_ = self.choose(TYPES)
            name = f"i{index}"
            annotated = not self.chance(self.error * 3)
            default = " = None" if type_.startswith("Optional") and self.chance(0.5) else ""
            parameters.append(f"{name}: {type_}{default}" if annotated else f"{name}{default}")
            self.variables.append((name, type_))
            inputs.append(_INPUTS[type_ if annotated else "Tensor"])
            if default:
                break
        return ", ".join(parameters) + (", *args" if self.chance(self.error) else ""), inputs


@dataclass(frozen=True)
class Program:
    """The source of a module, the expression of its example inputs, and its name."""

    source: str
    inputs: str
    target: str = "Net"


def _indented(lines: list[str]) -> list[str]:
    return [textwrap.indent(line, "    ") for line in lines]


Production = Callable[[Writer], str]


def _form(template: str) -> Production:
    """``{Tensor}`` and the like stand for expressions of that type, ``{=Tensor}`` for calls."""

    def produce(writer: Writer) -> str:
        parts = template.replace("{{", "\0").split("{")
        text = parts[0]
        for part in parts[1:]:
            type_, _, rest = part.partition("}")
            text += writer.called(type_[1:]) if type_.startswith("=") else writer.expression(type_)
            text += rest
        return text.replace("\0", "{").replace("}}", "}")

    return produce


_FORMS: dict[str, tuple[str, ...]] = {
    "Tensor": (
        "torch.zeros(4, 4)", "({Tensor} + {Tensor})", "({Tensor} * {int})", "({float} * {Tensor})", "{Tensor}.relu()",
        "F.relu({Tensor})", "torch.cat([{Tensor}, {Tensor}], dim=0)", "{=Tensor}", "{=Tensor}", "{Tensor}[0]",
        "{Tensor}[:, {int}]", "({Tensor} if {bool} else {Tensor})", "{Tensor}.sum(dim={int})", "-{Tensor}",
        "torch.where({Tensor} > 0, {Tensor}, {Tensor})", "{Tensor}.view({List[int]})", "{Tensor}.transpose(0, 1)",
        "{Tensor}.clamp(min={float})", "torch.stack({List[Tensor]})", "scale({Tensor}, {float})", "double({Tensor})",
        "{Tensor}.max(dim=0)[0]", "F.softmax({Tensor}, dim=-1)", "({Tensor} @ {Tensor})", "{Tuple[Tensor, Tensor]}[0]",
        "{Pair}.first", "{Dict[str, Tensor]}['a']", "{Tensor}.to(torch.float32)", "F.dropout({Tensor}, {float}, {bool})",
        "torch.full({List[int]}, {float})", "{Tensor}.masked_fill({Tensor} > 0, {float})", "{List[Tensor]}[0]",
        "torch.arange({int})", "{Tensor}.view(-1, {int})", "{Tensor}.mean()", "{Tensor}.permute(1, 0)", "({Tensor} ** 2)",
        "torch.einsum('ij,jk->ik', {Tensor}, {Tensor})", "{Tensor}.expand({int}, -1, -1)", "{Tensor}.T", "(1 - {Tensor})",
        "F.pad({Tensor}, {List[int]})", "torch.tensor({int})", "{Tensor}.reshape({Tensor}.shape)", "{Tensor}.float()",
        "{Tensor}[..., {int}]", "{Tensor}[{int}:]", "{Tensor}.new_zeros({List[int]})", "torch.ones_like({Tensor})",
    ),
    "int": (
        "1", "{Tensor}.size(0)", "{Tensor}.shape[0]", "len({List[int]})", "({int} + {int})", "({int} // 2)",
        "int({Tensor}.sum())", "{Tensor}.dim()", "int({float})", "{List[int]}[0]", "pick({List[int]})", "{=int}",
        "({int} if {bool} else {int})", "{Tuple[int, int]}[1]", "max({int}, {int})", "sum({List[int]})", "{Tensor}.numel()",
        "({int} % 3)", "-{int}", "len({List[Tensor]})", "{Tensor}.ndim", "int({bool})", "round({float})", "min({List[int]})",
    ),
    "float": (
        "0.5", "float({int})", "({int} / {int})", "({float} * {int})", "math.sqrt({int})", "({float} + {float})",
        "float({Tensor}.sum())", "{=float}", "abs({float})", "math.pi", "{List[float]}[0]", "max({float}, 1.0)",
    ),
    "bool": (
        "({int} < {int})", "({float} == {float})", "(not {bool})", "({bool} and {bool})", "({bool} or {bool})",
        "self.training", "({Optional[Tensor]} is None)", "({Tensor}.sum() > 0)", "bool({Tensor}.sum())", "({int} in {List[int]})",
        "({str} == 'a')", "({Optional[int]} is not None)", "hasattr(self, 'linear')", "torch.jit.is_scripting()", "{=bool}",
        "isinstance({Optional[Tensor]}, Tensor)", "(1 < {int} < 5)", "('a' in {Dict[str, Tensor]})", "torch.is_tensor({Tensor})",
    ),
    "str": ("'a'", "f'{{{int}}}'", "({str} + 'b')", "str({int})", "'{{}}'.format({int})", "{str}.upper()", "{=str}"),
    "List[int]": (
        "[1, {int}]", "[{int}]", "{Tensor}.size()", "{Tensor}.shape", "list({Tensor}.shape)", "({List[int]} + [{int}])",
        "[i for i in range({int})]", "list(range({int}))", "{Tensor}.shape[:-1]", "[{int}, *{Tuple[int, int]}]", "{=List[int]}",
        "[i * 2 for i in {List[int]}]", "({List[int]} + ({int}, {int}))", "{List[int]}[:1]", "sorted({List[int]})",
    ),
    "List[float]": ("[0.5, {float}]", "[{float}]", "[float(i) for i in {List[int]}]", "{=List[float]}"),
    "List[Tensor]": (
        "[{Tensor}, {Tensor}]", "[t + 1 for t in {List[Tensor]}]", "{Tensor}.unbind(0)", "list({Tensor}.chunk(2))",
        "torch.split({Tensor}, 2)", "[double(t) for t in {List[Tensor]}]", "{=List[Tensor]}", "{Tensor}.split({int}, dim=0)",
        "list({Dict[str, Tensor]}.values())", "[{Tensor}] * 2",
    ),
    "Optional[Tensor]": ("None", "{Tensor}", "({Tensor} if {bool} else None)", "{=Optional[Tensor]}"),
    "Optional[int]": ("None", "{int}", "{=Optional[int]}"),
    "Tuple[Tensor, Tensor]": ("({Tensor}, {Tensor})", "{Tensor}.max(dim=0)", "{=Tuple[Tensor, Tensor]}", "torch.chunk({Tensor}, 2)"),
    "Tuple[int, int]": ("({int}, {int})", "{Tensor}.shape", "{=Tuple[int, int]}"),
    "Dict[str, Tensor]": ("{{'a': {Tensor}}}", "{{'a': {Tensor}, 'b': {Tensor}}}", "{=Dict[str, Tensor]}", "dict([('a', {Tensor})])"),
    "Pair": ("Pair({Tensor}, {Tensor})", "Pair(first={Tensor}, second={Tensor})", "{=Pair}"),
}  # fmt: skip
_PRODUCTIONS = {type_: [_form(text) for text in texts] for type_, texts in _FORMS.items()}
_SIMPLEST = {
    "Optional[Tensor]": "None", "Optional[int]": "None", "bool": "True", "List[float]": "[0.5]", "List[int]": "[1, 2]",
    "List[Tensor]": "[torch.zeros(4, 4)]", "Tuple[int, int]": "(1, 2)", "Tuple[Tensor, Tensor]": "(torch.zeros(1), torch.zeros(1))",
    "Dict[str, Tensor]": "{{'a': torch.zeros(1)}}", "Pair": "Pair(torch.zeros(1), torch.zeros(1))",
}  # fmt: skip
_LEAVES = {type_: [_form(_SIMPLEST.get(type_, texts[0]))] for type_, texts in _FORMS.items()}


def write(random: Random) -> Program:
    """A program from a source of chance."""
    return Writer(random).program()


programs = st.builds(write, st.randoms(use_true_random=False))
