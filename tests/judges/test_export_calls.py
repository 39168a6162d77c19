"""With what torch.export calls a forward, which object it is of, and which of its ways are those of another run."""

from __future__ import annotations

import textwrap

import pytest


@pytest.mark.parametrize(
    ("signature", "check"),
    [
        ("ids=None, embeds=None", "ids is None and embeds is None"),
        ("ids: torch.Tensor = None, embeds: torch.Tensor = None", "(ids is None) ^ (embeds is not None)"),
    ],
)
@pytest.mark.parametrize(
    ("result", "verdict"), [("embeds", "exports"), ("embeds if ids.max() > 3 else -embeds", "refused")]
)
def test_where_one_of_several_inputs_is_wanted_the_first_is_given(
    exported, signature, check, result, verdict
):
    source = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(10, 4)
            def forward(self, {signature}):
                if {check}:
                    raise ValueError("one of both")
                if embeds is None:
                    embeds = self.embed(ids)
                return {result}
    """
    assert exported(source).verdict == verdict


def test_what_only_a_trace_does_is_not_the_way_of_torch_export(exported):
    source = """
        def f(x):
            is_long = x.shape[1] > 1 and x.dtype is torch.float32
            if torch.jit.is_tracing() and isinstance(is_long, torch.Tensor):
                is_long = is_long.item()
            return x[:2] if is_long and x.shape[1] > x.shape[2] else x
    """
    assert exported(source).verdict == "exports"


@pytest.mark.parametrize(("called", "verdict"), [("note(cls)", "exports"), ("print(cls)", "refused")])
def test_a_base_may_register_what_derives_from_it_through_a_function(exported, called, verdict):
    source = f"""
        from torch.utils import _pytree
        def note(cls):
            _pytree.register_pytree_node(cls, lambda d: (list(d.values()), list(d)), lambda v, k: cls(zip(k, v)))
        class Base(dict):
            def __init_subclass__(cls):
                {called}
        class Output(Base):
            pass
        def f(x):
            return Output(a=x)
    """
    assert exported(source).verdict == verdict


@pytest.mark.parametrize(("count", "verdict"), [(4, "exports"), (5, "refused")])
def test_a_class_may_make_an_object_of_another(exported, count, verdict):
    source = """
        class Plain(nn.Module):
            def forward(self, x):
                return x * 2
        class Gated(nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x
        class Net(nn.Module):
            def __new__(cls, count):
                return Plain() if count == 4 else Gated()
            def __init__(self):
                raise NotImplementedError
    """
    assert exported(source, made=f"Net({count})").verdict == verdict


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        ("torch.compiler.is_compiling() or torch.jit.is_tracing()", "exports"),
        ("torch.jit.is_scripting() or torch.jit.is_tracing()", "refused"),
        ("torch.compiler.is_compiling() and torch.jit.is_tracing()", "refused"),
    ],
)
def test_what_is_left_early_by_a_trace_is_by_torch_export_only_if_it_is_asked_for(exported, asked, verdict):
    source = f"""
        def f(x):
            if {asked}:
                return x
            return x if x.sum() > 0 else -x
    """
    assert exported(source).verdict == verdict


@pytest.mark.parametrize(("dtype", "verdict"), [("uint8", "exports"), ("float32", "refused")])
def test_dtypes_that_few_examples_have_are_not_taken_for_theirs(exported, dtype, verdict):
    source = f"def f(x):\n    return x / 255 if x.dtype == torch.{dtype} and x.max() > 1 else x"
    assert exported(source).verdict == verdict


@pytest.mark.parametrize(
    "result", ["x.clone().apply_(lambda v: 2 * v)", "x.clone().map_(x, max)", "torch.lobpcg(x, 1)[0]"]
)
def test_what_runs_over_elements_is_refused(exported, result):
    assert exported(f"def f(x):\n    return {result}").verdict == "refused"


def test_the_name_of_typing_for_an_ordered_dict_makes_one(exported):
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.hooks: typing.OrderedDict[int, object] = typing.OrderedDict()
            def forward(self, x):
                for hook in self.hooks.values():
                    x = hook(self, x)
                return x * 2
    """
    assert exported("import typing\n" + textwrap.dedent(source)).verdict == "exports"


@pytest.mark.parametrize(
    ("asked", "used", "verdict"),
    [
        ("x > 3", "torch.exp(x)", "refused"),
        ("x * 2 > 3", "torch.exp(-1 * x)", "refused"),
        ("x - self.shift > 3", "x * 2", "refused"),
        ("x > 3", "self.shift * x", "exports"),
    ],
)
def test_an_input_without_annotation_is_a_tensor_where_only_tensors_are_taken(exported, asked, used, verdict):
    source = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.shift = nn.Parameter(torch.ones(1))
            def forward(self, x):
                if {asked}:
                    return {used}
                return -({used})
    """
    assert exported(source).verdict == verdict


@pytest.mark.parametrize("rest", ["", ".unsqueeze(1).contiguous()"])
def test_rows_that_nonzero_gives_one_by_one_are_counted_by_data(exported, rest):
    source = f"""
        def f(h, i):
            rows = h[i.eq(1).nonzero(as_tuple=True)]{rest}
            return rows.sum() if rows.numel() else h.sum()
    """
    assert exported(source).verdict == "refused"


@pytest.mark.parametrize("applied", ["Gate.apply", "gate", "self.gate", "Gate().apply"])
def test_what_a_function_applies_is_followed_under_each_of_its_names(exported, applied):
    source = f"""
        class Gate(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2 if x.max() > 0 else x * 1
        gate = Gate.apply
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = Gate.apply
            def forward(self, x):
                return {applied}(x)
    """
    assert exported(source).verdict == "refused"


def test_what_a_function_keeps_for_its_backward_is_no_break_for_torch_compile(exported):
    source = """
        class Gate(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(False)
                ctx.save_for_backward(x)
                return x * 2
        def f(x):
            return Gate.apply(x)
    """
    assert exported(source).compile == "compiles"


def test_what_one_decorator_puts_around_nested_forwards_is_no_recursion(exported):
    source = """
        import functools
        def noted(function):
            @functools.wraps(function)
            def run(self, *args, **kwargs):
                return function(self, *args, **kwargs)
            return run
        class Inner(nn.Module):
            @noted
            def forward(self, x, scale=None):
                return x * 2 if scale is None else x * scale
        class Middle(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Inner()
            @noted
            def forward(self, x, scale=None):
                return self.part(x, scale=scale)
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Middle()
            @noted
            def forward(self, x, scale=None):
                return self.part(x, scale=scale)
        class Net(nn.Module):
            def __init__(self, scale: float):
                super().__init__()
                self.part, self.scale = Outer(), scale
            @noted
            def forward(self, x):
                return self.part(x, scale=self.scale)
    """
    assert exported(source).verdict == "exports"


@pytest.mark.parametrize(
    ("number", "compiled"),
    [
        ("n.item()", "unknown"),
        ("int(n)", "unknown"),
        ("self.n.item()", "unknown"),
        ("n.max().item()", "breaks"),
    ],
)
def test_torch_compile_takes_the_number_of_an_input_as_it_is(exported, number, compiled):
    source = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", torch.tensor(2))
            def forward(self, x, n: torch.Tensor):
                return x if {number} > 1 else -x
    """
    judged = exported(source)
    assert (judged.verdict, judged.compile) == ("refused", compiled)
