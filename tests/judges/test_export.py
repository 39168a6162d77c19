"""The export judge: verdicts for static shapes and for an open batch, and what they do not rest on."""

from __future__ import annotations

import textwrap
from contextlib import nullcontext

import pytest
import torch

from tests.torch_here import RELEASE
from tsguard.language.releases import ways
from tsguard.report import ExportJudgement, FixedDimension

BY_TENSORS = ways(RELEASE).indexes_by_tensors
"""Whether torch.export takes tensors of one number as indices, here."""


def test_a_size_that_is_made_a_number_holds_the_batch_only_where_that_is_open(exported):
    judged = exported("def f(x):\n    return torch.zeros(int(x.shape[0] / 2))")
    assert (judged.verdict, judged.dynamic) == ("exports", "specialised")
    assert judged.fixed == (FixedDimension("x", 0),)


@pytest.mark.parametrize("size", ["x.shape[1]", "x.size(-1)"])
def test_another_size_holds_no_batch(exported, size):
    assert exported(f"def f(x):\n    return torch.zeros(int({size} / 2))").dynamic == "exports"


@pytest.mark.parametrize(
    ("number", "dynamic"),
    [
        ("np.ceil(x.shape[0] / 2)", "exports"),
        ("np.prod(x.shape)", "exports"),
        ("math.ceil(x.shape[0] / 2)", "exports"),
        ("int(np.ceil(x.shape[0] / 2))", "specialised"),
        ("int(math.ceil(x.shape[0] / 2))", "specialised"),
        ("int(round(x.shape[0] / 2))", "specialised"),
        ("np.float32(x.shape[0])", "specialised"),
        ("np.sqrt(x.shape[0])", "refused"),
        ("torch.from_numpy(np.tile(np.ones((1, 4)), (x.shape[0], 1)))", "specialised"),
        ("torch.from_numpy(np.repeat(np.ones((1, 4)), x.shape[0], axis=0))", "specialised"),
        ("torch.from_numpy(np.pad(np.ones((1, 4)), x.shape[0]))", "refused"),
        ("np.sqrt(x.shape[1])", "exports"),
        ("divmod(x.shape[0], 2)[0]", "refused"),
        ("len(copy.deepcopy(x.shape))", "refused"),
    ],
)
def test_what_python_and_numpy_make_of_an_open_batch(exported, number, dynamic):
    judged = exported(f"import copy\nimport numpy as np\nimport torch\ndef f(x):\n    return x * {number}")
    assert (judged.verdict, judged.dynamic) == ("exports", dynamic)


@pytest.mark.parametrize(
    ("taken", "dynamic"), [("x[0]", "exports"), ("x[0, 0]", "exports"), ("x[:, 0]", "specialised")]
)
def test_rows_of_a_part_are_no_batch(exported, taken, dynamic):
    source = f"import torch\ndef f(x):\n    x = x + 1\n    return torch.stack([y * 2 for y in {taken}])"
    assert exported(source).dynamic == dynamic


def test_arithmetic_and_comparisons_leave_the_batch_open(exported):
    source = """
        def f(x):
            if x.shape[0] > 8:
                x = x[: x.shape[0] // 2]
            return x.view(x.shape[0], -1) * math.floor(x.shape[0] / 2)
    """
    assert exported(source) == ExportJudgement("exports", dynamic="exports", compile="compiles")


def test_what_is_refused_is_refused_with_an_open_batch_too(exported):
    judged = exported("def f(x):\n    return x if x.sum() > 0 else -x")
    assert (judged.verdict, judged.dynamic) == ("refused", "refused")


def test_a_number_comes_out_of_an_identity_as_one(exported):
    source = """
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.same = torch.nn.Identity()

            def forward(self, x, scale: float):
                scale = self.same(scale)
                return x if scale == 5 else -x
    """
    assert exported(source).verdict == "exports"


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        ("self.w.fast if hasattr(self.w, 'fast') else 1.0", "specialised"),
        ("getattr(self.w, 'fast', 1.0)", "specialised"),
        ("getattr(self.w, 'slow', 1.0)", "exports"),
        ("2.0 if hasattr(self.w, 'slow') else 1.0", "exports"),
        ("self.w.fast", "refused"),
    ],
)
def test_a_program_does_not_find_what_a_parameter_was_given(exported, read, verdict):
    source = f"""
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(4))
                self.w.fast = 3.0

            def forward(self, x):
                return x * ({read})
    """
    assert exported(source).verdict == verdict


def test_what_the_forward_catches_is_not_refused(exported):
    source = """
        def f(x):
            try:
                return x * float(x.sum())
            except RuntimeError:
                return x
    """
    assert exported(source).verdict == "specialised"


@pytest.mark.parametrize("flag", ["torch.compiler.is_compiling()", "torch.compiler.is_exporting()"])
def test_a_check_that_is_left_out_while_exporting_is_not_refused(exported, flag):
    source = f"""
        def f(x):
            if not {flag} and x.isnan().any():
                raise ValueError
            return x
    """
    assert exported(source).verdict == "exports"


def test_a_bare_argument_that_is_asked_may_be_a_flag(exported):
    assert exported("def f(x, flag):\n    return x * 2 if flag else x").verdict == "exports"


@pytest.mark.parametrize("body", ["x * pair.left", "x * pair[1]", "pair._replace(left=x)"])
def test_a_named_tuple_keeps_its_names(exported, body):
    source = f"""
    class Pair(typing.NamedTuple):
        left: torch.Tensor
        right: torch.Tensor

    def f(x, pair: Pair):
        return {body}
    """
    assert exported("import typing\n" + textwrap.dedent(source)).verdict == "exports"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("x.new_zeros(3).to(other)", "refused"),
        ("torch.zeros(3, device=other) * x", "refused"),
        ("x.to(other) * other", "exports"),
        ("x.to(other).view(other.shape)", "exports"),
    ],
)
def test_what_only_says_where_tensors_go_is_a_device(exported, body, verdict):
    assert exported(f"def f(x, other):\n    return {body}").verdict == verdict


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("max(1, x.mean().item())", "refused"),
        ("min(x.std().item(), x.sum().item())", "refused"),
        ("max(1, (x > 0).sum().item())", "exports"),
        ("max(1.0, x.argmax().item())", "exports"),
        ("max(x.mean().item(), x.argmax().item())", "exports"),
        ("max(1, x.sum().item())", "refused"),
    ],
)
def test_whole_symbols_are_compared_and_floats_are_not(exported, number, verdict):
    assert exported(f"def f(x):\n    return x / {number}").verdict == verdict


def test_an_item_of_zeros_is_a_symbol_all_the_same(exported):
    begins = "def f(x):\n    n = torch.zeros(x.size(0)).max().item()\n"
    assert exported(begins + "    return x * n").verdict == "exports"
    assert exported(begins + "    return x if n > 0 else x * 2").verdict == "refused"


@pytest.mark.parametrize("drawn", ["torch.randint(0, 4, (1,)).item()", "x.sum().int().item()"])
@pytest.mark.parametrize("other", ["0", "x.shape[1]"])
def test_a_symbol_on_one_side_of_a_branch_over_sizes_stays_one(exported, drawn, other):
    body = f"def f(x):\n    n = {other} if x.shape[0] == 4 else {drawn}\n    return x if n < 2 else x * 2"
    assert exported(body).verdict == "refused"


def test_an_assertion_on_a_symbol_is_kept_and_a_condition_on_it_refused(exported):
    begins = "def f(x):\n    n = x.sum().item()\n"
    assert exported(begins + "    assert n < 9\n    return x * n").verdict == "exports"
    assert exported(begins + "    return x if n < 9 else -x").verdict == "refused"


def test_what_is_not_read_leaves_it_unknown_unless_something_else_is_refused(exported):
    source = """
        from elsewhere import layer
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer()
            def forward(self, x):
                x = self.layer(x)
                return {result}
    """
    judged = exported(source.format(result="x * 2"))
    assert (judged.verdict, judged.dynamic) == ("unknown", "unknown")
    assert judged.unknown
    assert exported(source.format(result="torch.equal(x, x.abs())")).verdict == "unknown"
    refused = "def f(x, run):\n    if x.sum() > 0:\n        return run(x)\n    return x"
    assert exported(refused).verdict == "refused"


def test_a_script_function_is_looked_into(exported):
    source = """
        @torch.jit.script
        def gate(x):
            if bool(x.sum() > 0):
                return x * 2
            return x
        def f(x):
            return gate(x)
    """
    assert exported(source).verdict == "refused"


def test_shapes_that_are_not_told_do_not_matter(exported):
    source = """
        class Net(nn.Module):
            def forward(self, x):
                y = x[..., ::2].repeat_interleave(2, -1)
                if y.shape != x.shape:
                    y = y[..., : x.shape[-1]]
                return x + y
    """
    assert exported(source).verdict == "exports"


def test_what_is_behind_an_early_return_for_some_sizes_is_refused_all_the_same(exported):
    source = """
        def f(x, mask):
            if x.shape[1] < 3:
                return x
            return x * 2 if mask.any() else x
    """
    assert exported(source).verdict == "refused"


@pytest.mark.parametrize(
    ("dynamic", "fixed"),
    [
        ((), ()),
        (("x: {0: batch}",), ()),
        (("x: {1: length}",), (FixedDimension("x", 1),)),
        (("x: {0: batch, 1: auto}",), (FixedDimension("x", 1),)),
        (("other: {1: length}",), ()),
    ],
)
@pytest.mark.parametrize(
    "result",
    [
        "torch.stack([x[:, i] for i in range(x.shape[1])])",
        "[step * 2 for step in x.unbind(1)]",
        "x * math.sqrt(x.size(1))",
    ],
)
def test_the_dimensions_that_are_named_are_those_that_stay_open(exported, dynamic, fixed, result):
    judged = exported(f"def f(x, other):\n    return {result}", *dynamic)
    assert judged.verdict == "exports"
    assert (judged.dynamic, judged.fixed) == ("specialised" if fixed else "exports", fixed)


def test_a_recurrent_layer_holds_the_time_that_is_left_open(exported):
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.LSTM(4, 4, batch_first=True)
            def forward(self, x):
                return self.layer(x)[0]
    """
    assert exported(source).dynamic == "exports"
    assert exported(source, "x: {0: batch, 1: time}").fixed == (FixedDimension("x", 1),)


def test_a_branch_on_one_size_serves_one_side(exported):
    kept = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.count = 8
            def forward(self, x):
                return x * 2 if self.count != x.shape[0] else x
    """
    assert exported(kept).dynamic == "exports"  # but for one size, all are served
    assert (
        exported("def f(x):\n    return x.view(2, -1) * 2 if x.shape[0] == 2 else x").dynamic == "specialised"
    )
    assert exported("def f(x):\n    return x * 2 if x.shape[0] == 1 else x").dynamic == "exports"
    assert exported("def f(x):\n    return x * 2 if x.shape[0] > 8 else x").dynamic == "exports"


@pytest.mark.parametrize(
    ("result", "verdict"),
    [("x if x.sum() > 0 else -x", "breaks"), ("x * float(x.sum())", "compiles"), ("x * 2", "compiles")],
)
def test_torch_compile_breaks_at_some_of_what_is_refused(exported, result, verdict):
    assert exported(f"def f(x):\n    return {result}").compile == verdict


@pytest.mark.parametrize(
    ("inputs", "verdict"),
    [("x", "refused"), ("self.layer.weight", "unknown"), ("list(self.layer.parameters())", "unknown")],
)
def test_gradients_of_parameters_may_be_exported(exported, inputs: str, verdict: str):
    judged = exported(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)

            def forward(self, x):
                x = x.detach().requires_grad_(True)
                return torch.autograd.grad(self.layer(x).sum(), {inputs})[0]
    """)
    assert judged.verdict == verdict


def test_what_a_layer_of_torch_has_not_is_made_by_who_asks_for_it(exported):
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 4, 3)
                try:
                    self.conv.held
                except AttributeError:
                    self.conv.register_parameter("held", nn.Parameter(torch.rand(4)))
            def forward(self, x):
                return x * (self.conv.held.data * 2).sum()
    """
    assert exported(source).verdict == "refused"


def test_the_least_of_an_argument_and_a_size_shows_no_tensor(exported):
    source = """
        def f(x, most):
            return x[: int(min(most, x.shape[1]))]
    """
    assert exported(source).verdict == "exports"


def test_a_buffer_that_the_forward_registers_makes_the_program_wrong(exported):
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                {}
            def forward(self, x):
                self.register_buffer("kept", torch.arange(4.0))
                return x + self.kept
    """
    assert exported(source.format("pass")).verdict == "specialised"
    held = 'self.register_buffer("kept", torch.zeros(4))'
    assert exported(source.format(held)).verdict == "exports"


@pytest.mark.parametrize(
    "test",
    [
        "isinstance(x, torch.autograd.Variable)",
        "x.device.type.startswith('cuda')",
        "x.type().endswith('FloatTensor')",
    ],
)
def test_what_an_input_is_is_known_while_exporting(exported, test):
    assert exported(f"def f(x):\n    if not {test}:\n        x = x * 2\n    return x").verdict == "exports"


def test_an_input_is_a_variable(exported):
    source = """
        from torch.autograd import Variable
        def f(x):
            if isinstance(x, Variable):
                return x
            raise TypeError("no tensor")
    """
    assert exported(source).verdict == "exports"


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ("like.new(x.size(0), 4).zero_()", "exports"),
        ("like * 2", "refused"),
        ("torch.zeros_like(like)", "refused"),
    ],
)
def test_data_that_has_a_name_is_harmless_where_only_its_form_is_asked(exported, made, verdict):
    source = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x):
                like = next(self.parameters()).data
                return self.layer(x) + {made}[:1]
    """
    assert exported(source).verdict == verdict


@pytest.mark.parametrize("asked", ["torch.numel(x.data)", "len(x.data)", "isinstance(x.data, torch.Tensor)"])
def test_a_function_that_asks_data_for_its_form_loses_nothing(exported, asked):
    assert exported(f"def f(x):\n    return x * {asked}").verdict == "exports"
    assert exported(f"def f(x):\n    return x.data * {asked}").verdict == "refused"


def test_a_module_is_called_as_torch_says_where_that_comes_first(exported):
    source = """
        class Asked:
            def __call__(self, x):
                raise NotImplementedError
        class Net({bases}):
            def forward(self, x):
                return {result}
    """
    assert exported(source.format(bases="nn.Module, Asked", result="{1, 2}")).verdict == "refused"
    assert exported(source.format(bases="nn.Module, Asked", result="x")).verdict == "exports"
    assert exported(source.format(bases="Asked, nn.Module", result="x")).verdict == "unknown"


@pytest.mark.parametrize("walk", ["for p in self.parameters():", "for name, p in self.named_parameters():"])
def test_a_forward_goes_over_the_parameters(exported, walk):
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)
            def forward(self, x):
                {walk}
                    x = x + p.{taken}sum()
                return self.lin(x)
    """
    assert exported(source.format(walk=walk, taken="")).verdict == "exports"
    assert exported(source.format(walk=walk, taken="data.")).verdict == "refused"


def test_a_product_of_sizes_that_is_made_a_number_holds_the_batch(exported):
    source = "import numpy as np\ndef f(x):\n    return x.view(-1)[: int(np.prod(x.shape) / 2)]"
    assert exported(source).dynamic == "specialised"


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ("Variable(x)", "exports"),
        ("Variable(torch.zeros(4)) + x", "exports"),
        ("Variable(x).data * 2", "refused"),
        ("Variable(torch.zeros(4)).data + x", "refused"),
        ("x * float(Variable(x.sum()))", "refused"),
    ],
)
def test_a_variable_of_old_is_the_tensor_itself(exported, made, verdict):
    judged = exported(f"from torch.autograd import Variable\ndef f(x):\n    return {made}")
    assert (judged.verdict, judged.compile) == (verdict, "breaks")


@pytest.mark.parametrize("key", ["y[0]", "y[i]"])
def test_an_index_beside_several_may_be_one_number(exported, key):
    source = f"import torch\ndef f(x, y):\n    i = 1\n    return x[torch.arange(2), {key}]"
    assert exported(source).verdict == ("exports" if BY_TENSORS else "unknown")


_MASKED = """
    import torch
    def f(x, y, n: int):
        i = {index}
        z = x[{key}]
        return {asked}
"""


@pytest.mark.parametrize("key", ["i", "i, :2"])
@pytest.mark.parametrize(
    "asked",
    [
        "len(z) * x",
        "sum(row.sum() for row in z)",
        "x if z.shape[0] == 0 else z",
        "x if z.size(0) * 2 > 4 else z",
        "z.chunk(2)",
        "sum(x[n] for n in range(z.shape[0]))",
        "torch.nn.functional.batch_norm(z, None, None, training=True)",
        "x[: z.shape[0]].unbind()",
    ],
)
def test_how_many_a_tensor_lets_through_depends_on_whether_it_is_a_mask(exported, key, asked):
    verdicts = {
        index: exported(_MASKED.format(index=index, key=key, asked=asked)).verdict
        for index in ("y", "y > 0", "y.long()")
    }
    assert verdicts == {"y": "unknown", "y > 0": "refused", "y.long()": "exports"}


@pytest.mark.parametrize(
    ("options", "given", "verdict"),
    [
        ("", "", "exports"),
        ("", ", src_key_padding_mask=padded", "unknown"),
        (", enable_nested_tensor=False", ", src_key_padding_mask=padded", "exports"),
    ],
)
def test_what_an_encoder_gives_for_what_is_padded_may_be_other_numbers(exported, options, given, verdict):
    source = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
                self.encoder = nn.TransformerEncoder(layer, 2{options})
            def forward(self, x, padded):
                return self.encoder(x{given})
    """
    assert exported(source).verdict == verdict


@pytest.mark.parametrize("asked", ["z.mean()", "x * z.shape[0]", "torch.zeros(z.shape[0])", "z[0]"])
def test_what_asks_for_no_count_goes_well_whatever_the_index_is(exported, asked):
    assert exported(_MASKED.format(index="y", key="i", asked=asked)).verdict == "exports"


@pytest.mark.parametrize(
    ("index", "verdict"),
    [("y[i]", "unknown"), ("y[0]", "unknown"), ("y[i] > 0", "exports"), ("x[i].argmax()", "refused")],
)
def test_whether_an_index_is_one_place_has_to_be_told(exported, index, verdict):
    source = (
        f"def f(x, y):\n    z = x.clone()\n    for i in range(4):\n        z[i, {index}] = 1\n    return z"
    )
    assert exported(source).verdict == ("exports" if BY_TENSORS else verdict)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("mask", "refused"), ("node_mask", "refused"), ("idx", "exports"), ("edge_index", "exports")],
)
def test_what_an_index_is_called_tells_what_it_holds(exported, name, verdict):
    source = f"def f(x, {name}):\n    z = x[{name}]\n    return x if z.shape[0] == 0 else z"
    assert exported(source).verdict == verdict


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("weights", "refused"), ("x", "refused"), ("mask", "unknown"), ("lengths", "unknown")],
)
def test_the_least_of_a_number_and_a_sum_is_one_of_floats_unless_the_name_says_otherwise(
    exported, name, verdict
):
    assert exported(f"def f({name}):\n    return {name} / max(1, {name}.sum().item())").verdict == verdict


KEEPING = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(4))
            self.register_buffer("other", torch.ones(4))

        def forward(self, x):
            y = x - self.last
            {kept}
            return y

    def example_inputs():
        return (torch.ones(4),)
"""


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("self.last = x", "refused"),
        ("setattr(self, 'last', x)", "refused"),
        ("self.last = self.other", "refused"),
        ("self.last = x; self.last = self.last * 2", "exports"),
        ("self.last = x; self.last += 1", "exports"),
        ("self.last = x.clone()", "exports"),
        ("self.last = y", "exports"),
        ("self.last.copy_(x)", "exports"),
        ("self.last = x; self.register_buffer('last', x * 2)", "exports"),
    ],
)
def test_a_buffer_is_assigned_what_nothing_computes(exported, kept, expected):
    assert exported(KEEPING.format(kept=kept)).verdict == expected

    names = {"__name__": "model", "torch": torch, "nn": torch.nn}
    exec(textwrap.dedent(KEEPING.format(kept=kept)), names)
    refusal = pytest.raises(Exception, match="nn_module_stack") if expected == "refused" else nullcontext()
    with refusal:
        torch.export.export(names["Net"](), names["example_inputs"](), strict=False)


@pytest.mark.parametrize(("first", "verdict"), [("None", "specialised"), ("torch.zeros(3)", "exports")])
def test_a_buffer_that_is_none_is_no_buffer_of_the_program(exported, first, verdict):
    source = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("last", {first})
            def forward(self, x):
                y = x if self.last is None else x - self.last
                self.last = x * 1
                return y
    """
    assert exported(source).verdict == verdict
    scope: dict = {"torch": torch, "nn": torch.nn}
    exec(textwrap.dedent(source), scope)
    program, net = (make() for make in (lambda: _program(scope["Net"]()), scope["Net"]))
    xs = [torch.ones(3), torch.ones(3) * 2]
    assert all(torch.equal(program(x), net(x)) for x in xs) == (verdict == "exports")


def _program(net):
    return torch.export.export(net, (torch.ones(3),)).module()
