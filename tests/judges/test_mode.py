"""The mode judge: what it follows, what it lists, where it reports, and what it leaves open."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.findings import finding
from tsguard.judges.mode import ModeOutcome, judge_mode
from tsguard.project import Project
from tsguard.project.targets import find_target

IMPORTS = """\
import torch
import torch.nn.functional as F
from torch import nn
"""


@pytest.fixture
def judge(tmp_path: Path):
    """Judge a target in a file; other files, by name, lie beside it or in packages."""

    def run(source: str, target: str = "Net", **others: str) -> ModeOutcome:
        for name, text in others.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".py").write_text(IMPORTS + textwrap.dedent(text), encoding="utf-8")
        path = tmp_path / "model.py"
        path.write_text(IMPORTS + textwrap.dedent(source), encoding="utf-8")
        project = Project((tmp_path, tmp_path / "site-packages"))
        module = project.module(path)
        return judge_mode(Program(project), find_target(module, target))

    return run


def layers(outcome: ModeOutcome) -> dict[str, str]:
    return {layer.attribute: layer.type for layer in outcome.layers}


def codes(outcome: ModeOutcome) -> list[str]:
    return [finding(event, when).code for event, when in outcome.events if when is None]


def test_layers_are_named_by_their_paths_through_containers_loops_and_nested_modules(judge):
    outcome = judge("""
        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.norm = nn.BatchNorm1d(width)
                self.tail = nn.Sequential(nn.ReLU(), nn.Dropout(0.1))

            def forward(self, x):
                return self.tail(self.norm(x))

        class Net(nn.Module):
            def __init__(self, depth=2):
                super().__init__()
                self.blocks = nn.ModuleList([Block(8) for _ in range(depth)])
                self.heads = nn.ModuleDict({"main": nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))})
                for i in range(2):
                    setattr(self, f"drop{i}", nn.Dropout(0.2))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                for i in range(2):
                    x = getattr(self, f"drop{i}")(x)
                return self.heads["main"](x)
    """)
    assert outcome.verdict == "dependent"
    assert layers(outcome) == {
        "blocks.0.norm": "torch.nn.BatchNorm1d",
        "blocks.0.tail.1": "torch.nn.Dropout",
        "blocks.1.norm": "torch.nn.BatchNorm1d",
        "blocks.1.tail.1": "torch.nn.Dropout",
        "drop0": "torch.nn.Dropout",
        "drop1": "torch.nn.Dropout",
        "heads.main.1": "torch.nn.Dropout",
    }


def test_layers_are_listed_in_the_order_in_which_one_counts(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stack = nn.Sequential(*[nn.Dropout(0.5) for _ in range(12)])

            def forward(self, x):
                return self.stack(x)
    """)
    assert list(layers(outcome)) == [f"stack.{i}" for i in range(12)]


def test_the_layers_that_a_stack_copies_are_listed_each(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)

            def forward(self, x):
                return self.encoder(x)
    """)
    assert list(layers(outcome)) == ["encoder.layers.0", "encoder.layers.1"]
    assert set(codes(outcome)) == {"TSG301"}


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        ("x * 2 if self.training else x", "dependent"),
        ("(x, x * 2) if self.training else (x, x)", "dependent"),
        ("x if self.training else x", "independent"),
        ("x + torch.ones(3, requires_grad=self.training)", "independent"),
        ("x + torch.full((3,), float(self.training))", "dependent"),
        ("(torch.relu if self.training else torch.relu)(x)", "independent"),
    ],
)
def test_tensors_computed_in_two_ways_differ_by_mode(judge, result, verdict):
    outcome = judge(f"""
        class Net(nn.Module):
            def forward(self, x):
                return {result}
    """)
    assert outcome.verdict == verdict


def test_a_layer_that_forward_never_calls_does_not_matter(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.5)
                self.linear = nn.Linear(4, 4)

            def forward(self, x):
                return self.linear(x)

            def loss(self, x):
                return self.drop(x).sum()
    """)
    assert outcome.verdict == "independent"
    assert layers(outcome) == {}


def test_a_module_of_the_project_that_asks_for_the_mode_is_a_layer_too(judge):
    outcome = judge(
        """
        from layers import DropPath

        class Net(nn.Module):
            def __init__(self, rate=0.1):
                super().__init__()
                self.path = DropPath(rate)

            def forward(self, x):
                return x + self.path(x)
        """,
        layers="""
        def drop_path(x, rate, training):
            if rate == 0.0 or not training:
                return x
            return x * x.new_empty(x.size(0), 1).bernoulli_(1 - rate)

        class DropPath(nn.Module):
            def __init__(self, rate):
                super().__init__()
                self.rate = rate

            def forward(self, x):
                return drop_path(x, self.rate, self.training)
        """,
    )
    assert layers(outcome) == {"path": "layers.DropPath"}
    [(event, _)] = outcome.events
    assert event.module.name == "layers"
    assert event.chain == ("Net.forward", "DropPath.forward", "drop_path")


@pytest.mark.parametrize(
    ("argument", "verdict", "condition"),
    [
        ("rate", "dependent", None),
        ("rate=0.5", "dependent", None),
        ("rate=0.0", "depends", "rate > 0"),
    ],
)
def test_a_default_decides_and_what_else_could_be_is_a_condition(judge, argument, verdict, condition):
    outcome = judge(f"""
        class Net(nn.Module):
            def __init__(self, {argument}):
                super().__init__()
                self.drop = nn.Dropout(rate)

            def forward(self, x):
                return self.drop(x)
    """)
    assert outcome.verdict == verdict
    assert [when for _, when in outcome.events] == [condition]


def test_arguments_given_with_the_target_decide(judge):
    source = """
        class Net(nn.Module):
            def __init__(self, rate):
                super().__init__()
                self.drop = nn.Dropout(rate)

            def forward(self, x):
                return self.drop(x)
    """
    assert judge(source, "Net(0.0)").verdict == "independent"
    assert judge(source, "Net(rate=0.3)").verdict == "dependent"


def test_checks_and_remarks_of_one_mode_change_no_result(judge):
    outcome = judge("""
        class Net(nn.Module):
            def forward(self, x, targets=None):
                if self.training and targets is None:
                    raise ValueError("targets are needed")
                if self.training:
                    self._check(targets)
                assert not self.training or targets is not None
                return x * 2

            def _check(self, targets):
                print(targets)
    """)
    assert (outcome.verdict, outcome.events) == ("independent", ())


def test_the_mode_is_followed_through_variables_arguments_and_attributes(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rate = 0.3

            def forward(self, x):
                rate = self.rate if self.training else 0.0
                return self.attend(x, dropout=rate)

            def attend(self, x, dropout):
                return F.scaled_dot_product_attention(x, x, x, dropout_p=dropout)
    """)
    [(event, _)] = outcome.events
    assert event.rule == "mode-dependent-call/dropout"


def test_a_setting_that_is_the_same_in_both_modes_is_none(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rate = 0.0

            def forward(self, x):
                rate = self.rate if self.training else 0.0
                return F.dropout(x, rate, training=True)
    """)
    assert (outcome.verdict, outcome.events) == ("independent", ())


def test_what_differs_is_reported_once_where_it_begins_to(judge):
    outcome = judge("""
        class Net(nn.Module):
            def forward(self, x):
                if self.training:
                    scale = 2.0
                else:
                    scale = 1.0
                y = x * scale
                return F.interpolate(y, scale_factor=scale) + scale
    """)
    assert codes(outcome) == ["TSG302"]


def test_code_that_only_training_reaches_is_not_random_in_eval(judge):
    outcome = judge("""
        class Net(nn.Module):
            def forward(self, x):
                if not self.training:
                    return x
                return x + torch.randn_like(x)
    """)
    assert codes(outcome) == ["TSG302"]


def test_both_ways_that_data_may_choose_are_followed(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Dropout(0.5)
                self.b = nn.BatchNorm1d(4)

            def forward(self, x, mask=None):
                layer = self.a if x.sum() > 0 else self.b
                if mask is not None:
                    return layer(x) * mask
                return layer(x)
    """)
    assert set(layers(outcome)) == {"a", "b"}


def test_what_the_constructor_rules_out_is_not_followed(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self, norm=False):
                super().__init__()
                self.norm = nn.BatchNorm1d(4) if norm else None

            def forward(self, x):
                if self.norm is not None:
                    x = self.norm(x)
                return x
    """)
    assert [(event.rule, when) for event, when in outcome.events] == [
        ("mode-dependent-layer/statistics", "norm")
    ]


def test_an_override_of_train_decides_which_layers_are_frozen(judge):
    source = """
        class Net(nn.Module):
            def __init__(self, freeze=True):
                super().__init__()
                self.freeze = freeze
                self.backbone = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
                self.head = nn.Dropout(0.5)

            def train(self, mode=True):
                super().train(mode)
                if mode and self.freeze:
                    for module in self.modules():
                        if isinstance(module, nn.BatchNorm1d):
                            module.eval()
                return self

            def forward(self, x):
                return self.head(self.backbone(x))
    """
    assert set(layers(judge(source))) == {"head"}
    assert set(layers(judge(source, "Net(freeze=False)"))) == {"head", "backbone.1"}


def test_a_hidden_module_that_was_put_into_eval_mode_stays_there(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.features = [nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).eval()]

            def forward(self, x):
                return self.features[0](x)
    """)
    assert outcome.verdict == "independent"


def test_hooks_and_parametrizations_are_part_of_a_call(judge):
    outcome = judge("""
        class Noise(nn.Module):
            def forward(self, weight):
                return weight + torch.randn_like(weight)

        def drop(module, args, output):
            return F.dropout(output, training=module.training)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.noisy = nn.Linear(4, 4)
                nn.utils.parametrize.register_parametrization(self.noisy, "weight", Noise())
                self.hooked = nn.Linear(4, 4)
                self.hooked.register_forward_hook(drop)

            def forward(self, x):
                return self.hooked(self.noisy(x))
    """)
    assert sorted(codes(outcome)) == ["TSG303", "TSG306"]


STATEFUL = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.zeros(4))
            {made}

        def forward(self, x):
            {update}
            return x
"""


@pytest.mark.parametrize(
    ("made", "update"),
    [
        ("self.kept = F.normalize(self.kept, dim=0)", "self.kept.copy_(x[0])"),
        ("pass", "torch.add(self.kept, 1, out=self.kept)"),
        ("pass", "flat = self.kept.view(-1); flat += 1"),
    ],
)
def test_a_buffer_is_state_however_it_was_made_and_is_written(judge, made, update):
    outcome = judge(STATEFUL.format(made=made, update=update))
    assert (outcome.verdict, codes(outcome)) == ("dependent", ["TSG307"])


def test_a_new_tensor_made_of_a_buffer_is_no_state(judge):
    outcome = judge(STATEFUL.format(made="pass", update="x = (self.kept.view(-1) * 2).add_(x)"))
    assert outcome.verdict == "independent"


NORM = """
    class Net(nn.modules.{base}):
        def _check_input_dim(self, x):
            return
"""


def test_a_class_derived_from_the_private_base_of_a_layer_does_what_that_does(judge):
    assert judge(NORM.format(base="batchnorm._BatchNorm")).verdict == "dependent"
    by_default = judge(NORM.format(base="instancenorm._InstanceNorm"))
    assert [when for _, when in by_default.events] == ["track_running_stats"]


def test_checkpointed_modules_are_followed(judge):
    outcome = judge("""
        from torch.utils.checkpoint import checkpoint

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))

            def forward(self, x):
                return checkpoint(self.block, x, use_reentrant=False)
    """)
    assert layers(outcome) == {"block.1": "torch.nn.Dropout"}


def test_code_of_other_packages_is_reported_where_the_targets_own_code_leads_to_it(judge):
    outcome = judge(
        """
        from zoo import Backbone, augment

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.backbone = Backbone()

            def forward(self, x):
                return self.backbone(augment(x))
        """,
        **{
            "site-packages__zoo": """
            def augment(x):
                return x + torch.rand_like(x)

            class Backbone(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.drop = nn.Dropout(0.5)

                def forward(self, x):
                    return self.drop(x)
            """
        },
    )
    messages = {finding(event, when).message for event, when in outcome.events}
    assert messages == {
        "Backbone() runs code of another package that depends on the mode",
        "augment(x) runs code of another package that is random in eval() too",
    }
    assert {event.module.name for event, _ in outcome.events} == {"model"}
    assert layers(outcome)["backbone.drop"] == "torch.nn.Dropout"


def test_assigning_a_tensor_moved_to_a_device_updates_nothing(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.zeros(4))
                self.last = None

            def forward(self, x):
                self.table = self.table.to(x.device)
                self.last = x
                return x + self.table
    """)
    assert (outcome.verdict, outcome.events) == ("independent", ())


@pytest.mark.parametrize(
    "change",
    [
        "self.total[0] = 1",
        "self.total += x",
        "self.total = self.total + x",
        "self.total.data.copy_(x)",
        "total = self.total; total *= 2",
    ],
)
def test_every_way_to_change_a_buffer_is_seen(judge, change):
    outcome = judge(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("total", torch.zeros(4))

            def forward(self, x):
                {change}
                return x
    """)
    assert codes(outcome) == ["TSG307"]


def test_what_cannot_be_read_is_open_unless_something_else_decides(judge):
    source = """
        from somewhere import Layer

        class Net(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.layer = Layer(4)
                self.inner = inner
                {more}

            def forward(self, x):
                x = self.inner(self.layer(x))
                return {result}
    """
    outcome = judge(source.format(more="pass", result="x"))
    assert outcome.verdict == "unknown"
    assert [gap.why for gap in outcome.gaps] == [
        'the source of package "somewhere" cannot be found',
        "inner is an argument of the constructor of unknown type",
    ]
    assert judge(source.format(more="self.drop = nn.Dropout()", result="self.drop(x)")).verdict == "dependent"


def test_a_function_of_a_missing_package_is_open(judge):
    outcome = judge("""
        from somewhere import rearrange

        class Net(nn.Module):
            def forward(self, x):
                return rearrange(x, "b c -> c b")
    """)
    assert outcome.verdict == "unknown"


def test_a_class_without_a_forward_is_open(judge):
    assert judge("class Net(nn.Module):\n    pass").verdict == "unknown"


def test_a_function_is_judged_as_it_is_called_without_options(judge):
    source = """
        def augment(x, flip: bool = False):
            if flip:
                return x + torch.rand_like(x)
            return x

        def noise(x):
            return torch.rand_like(x)
    """
    assert judge(source, "augment").verdict == "independent"
    assert judge(source, "noise").verdict == "dependent"


def test_recursion_ends(judge):
    outcome = judge("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.5)

            def forward(self, x, depth=3):
                if x.sum() > depth:
                    return self.forward(x, depth + x.size(0)) + self.forward(x, depth - 1)
                return self.drop(x)
    """)
    assert outcome.verdict == "dependent"


BLOCK = """
    class Block(nn.Module):
        def __init__(self, p=0.1, act=nn.ReLU):
            super().__init__()
            self.act = act()
            self.drop = nn.Dropout(p)

        def forward(self, x, quiet: bool = False):
            return self.act(x) if quiet else self.drop(self.act(x))
"""


def test_every_one_of_many_blocks_that_are_alike_is_listed(judge):
    outcome = judge(
        BLOCK
        + """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(*[nn.Sequential(Block(), Block()) for _ in range(2)])

        def forward(self, x):
            return self.blocks(x)
    """
    )
    assert list(layers(outcome)) == [f"blocks.{i}.{j}.drop" for i in range(2) for j in range(2)]


def test_blocks_are_not_alike_where_an_argument_of_theirs_or_of_the_call_differs(judge):
    outcome = judge(
        BLOCK
        + """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(p) for p in (0.1, 0.0, 0.1)])

        def forward(self, x):
            x = self.blocks[0](x, quiet=True)
            return self.blocks[2](self.blocks[1](x))
    """
    )
    assert list(layers(outcome)) == ["blocks.2.drop"]


def test_a_layer_that_two_alike_blocks_share_is_listed_once(judge):
    outcome = judge("""
        class Block(nn.Module):
            def __init__(self, drop):
                super().__init__()
                self.drop = drop

            def forward(self, x):
                return self.drop(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                shared = nn.Dropout(0.1)
                self.blocks = nn.ModuleList([Block(shared) for _ in range(2)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
    """)
    assert list(layers(outcome)) == ["blocks.0.drop"]


def test_a_block_that_was_changed_in_between_is_followed_anew(judge):
    outcome = judge("""
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)
                self.active = False

            def forward(self, x):
                return self.drop(x) if self.active else x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block() for _ in range(2)])

            def forward(self, x):
                x = self.blocks[0](x)
                self.blocks[1].active = True
                return self.blocks[1](x)
    """)
    assert list(layers(outcome)) == ["blocks.1.drop"]


@pytest.mark.parametrize("called", ["self.__setattr__", "super().__setattr__"])
def test_a_layer_set_by_a_computed_name_counts(judge, called: str):
    outcome = judge(f"""
        class Net(nn.Module):
            def __init__(self, name="norm"):
                super().__init__()
                {called}("norm", nn.BatchNorm2d(3))

            def forward(self, x):
                return self.norm(x)
    """)
    assert layers(outcome) == {"norm": "torch.nn.BatchNorm2d"}


def test_methods_of_an_argument_that_may_be_none_are_no_modules(judge):
    outcome = judge("""
        class Net(nn.Module):
            def forward(self, x, mask=None):
                if mask is not None:
                    x = x + mask.unsqueeze(1).to(x.dtype)
                return x
    """)
    assert (outcome.verdict, outcome.gaps) == ("independent", ())


def test_methods_of_what_a_call_returned_are_no_modules(judge):
    source = """
        class Net(nn.Module):
            def forward(self, x):
                query, key = map(lambda t: t.reshape(2, -1), x.chunk(2))
                return query @ key.transpose(0, 1)
    """
    outcome = judge(source)
    assert (outcome.verdict, outcome.gaps) == ("independent", ())


def test_a_module_called_by_the_name_of_a_method_of_tensors_stays_open(judge):
    outcome = judge("""
        from elsewhere import make

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = make()

            def forward(self, x, mask=None):
                return self.norm(x)
    """)
    assert outcome.verdict == "unknown"


def test_what_only_further_positional_arguments_switch_on_is_off(judge):
    body = """
        class Net(nn.Module):
            def forward(self, {signature}):
                return self.run({arguments})

            def run(self, x, noisy=False):
                return torch.rand_like(x) if noisy else x
    """
    assert judge(body.format(signature="x, *rest", arguments="x, *rest")).verdict == "independent"
    assert judge(body.format(signature="*given", arguments="given[0], True")).verdict == "dependent"


def test_a_forward_of_any_number_of_inputs_is_called_with_one(judge):
    outcome = judge("""
        class Net(nn.Module):
            def forward(self, *inputs):
                for x in inputs:
                    return F.dropout(x, 0.5, self.training)
    """)
    assert outcome.verdict == "dependent"


@pytest.mark.parametrize(("given", "verdict"), [("", "independent"), ("features=3", "dependent")])
def test_a_layer_that_the_constructor_did_not_make_cannot_run(judge, given: str, verdict: str):
    outcome = judge(
        """
        class Net(nn.Module):
            def __init__(self, features=None):
                super().__init__()
                if features is not None:
                    self.norm = nn.BatchNorm1d(features)

            def forward(self, x, context=None):
                return x if context is None else x + self.norm(context)
        """,
        f"Net({given})",
    )
    assert (outcome.verdict, outcome.gaps) == (verdict, ())


@pytest.mark.parametrize(("given", "verdict"), [("floor", "independent"), ("ceil", "dependent")])
def test_arguments_may_use_names_that_the_file_does_not_import(judge, given: str, verdict: str):
    outcome = judge(
        """
        class Net(nn.Module):
            def __init__(self, rate, first):
                super().__init__()
                self.drop = nn.Sequential(first, nn.Dropout(rate))

            def forward(self, x):
                return self.drop(x)
        """,
        f"Net(math.{given}(0.5), first=model.nn.Identity())",
    )
    assert (outcome.verdict, outcome.gaps) == (verdict, ())


@pytest.mark.parametrize("kept", ["functools.lru_cache(8)(run)", "functools.lru_cache(run)"])
@pytest.mark.parametrize(("run", "verdict"), [("x + 1", "independent"), ("torch.rand_like(x)", "dependent")])
def test_a_function_kept_by_a_cache_is_followed(judge, kept: str, run: str, verdict: str):
    outcome = judge(f"""
        import functools

        def run(x):
            return {run}

        kept = {kept}

        class Net(nn.Module):
            def forward(self, x):
                return kept(x)
    """)
    assert (outcome.verdict, outcome.gaps) == (verdict, ())


@pytest.mark.parametrize("rate", ["0.0", "0.1"])
@pytest.mark.parametrize(
    "rates",
    [
        "[x.item() for x in torch.linspace(0, rate, 5)]",
        "torch.linspace(0, rate, 5).tolist()",
        "[rates[0] for rates in [x.tolist() for x in torch.linspace(0, rate, 5).split((2, 3))]]",
    ],
)
def test_rates_that_rise_from_nothing_to_nothing_are_nothing(judge, rates: str, rate: str):
    source = f"""
        class Net(nn.Module):
            def __init__(self, rate: float = {rate}):
                super().__init__()
                rates = {rates}
                self.blocks = nn.ModuleList()
                for i in range(2):
                    self.blocks.append(nn.Dropout(rates[i]) if rates[i] > 0.0 else nn.Identity())

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
    """
    assert (judge(source).verdict == "independent") == (rate == "0.0")
    assert judge(source, f"Net({rate})").verdict == ("independent" if rate == "0.0" else "dependent")


@pytest.mark.parametrize(
    ("train", "other", "verdict"),
    [
        ("x.log1p()", "x.log1p_()", "independent"),
        ("checkpoint(self.layer, x, use_reentrant=False)", "self.layer(x)", "independent"),
        ("checkpoint_sequential(self.layer, 2, x)", "self.layer(x)", "independent"),
        ("checkpoint_sequential(self.layer, 2, x)", "self.layer(x) * 2", "dependent"),
        ("x.log1p()", "x.log_()", "dependent"),
        ("checkpoint(self.layer, x)", "self.other(x)", "dependent"),
    ],
)
def test_sides_that_compute_the_same_in_other_ways_do_not_differ(judge, train: str, other: str, verdict: str):
    source = """
        from torch.utils.checkpoint import checkpoint, checkpoint_sequential

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
                self.other = nn.Linear(4, 4)

            def forward(self, x):
                {statement}
    """
    for statement in (
        f"return {train} if self.training else {other}",
        f"if self.training:\n                    return {train}\n                return {other}",
        f"y = x\n                if self.training:\n                    y = {train}\n"
        f"                else:\n                    y = {other}\n                return y",
    ):
        assert judge(source.replace("{statement}", statement)).verdict == verdict


def test_a_cache_that_a_module_of_another_package_keeps_in_a_buffer_is_state(judge):
    outcome = judge(
        """
        from pkg import Table

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = Table()

            def forward(self, x):
                return self.table.of(x)
        """,
        **{
            "site-packages__pkg": """
            class Table(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("cached", torch.zeros(8), persistent=False)

                def of(self, x):
                    self.cached[: len(x)] = x
                    return x + 1
            """
        },
    )
    assert outcome.verdict == "dependent"
    assert {finding(event, when).message for event, when in outcome.events} == {
        "self.table.of(x) runs code of another package that changes what it keeps in every call, in eval() too"
    }


REGISTRY = """
    import enum
    import os
    from collections.abc import MutableMapping

    class Kind(str, enum.Enum):
        NATIVE = "native"
        FAST = "fast"

    class Backends:
        _known = {}
        _checks = {}
        _active = Kind(os.getenv("BACKEND", "native"))

        @classmethod
        def register(cls, kind, checks=None):
            def decorator(function):
                cls._known[kind] = function
                cls._checks[kind] = checks or []
                return function

            return decorator

    def sized(x):
        if x.dim() < 2:
            raise ValueError

    @Backends.register(Kind.NATIVE, checks=[sized])
    def plain(x):
        return x * 2

    @Backends.register(Kind.FAST)
    def noisy(x):
        return F.dropout(x)

    class Table(MutableMapping):
        _shared = {"plain": plain, "noisy": noisy}

        def __init__(self):
            self._own = {}

        def __getitem__(self, key):
            return self._own[key] if key in self._own else self._shared[key]

        def __setitem__(self, key, value):
            self._own[key] = value

        def __delitem__(self, key):
            del self._own[key]

        def __iter__(self):
            return iter(self._shared)

        def __len__(self):
            return len(self._shared)

        def chosen(self, key, default):
            if key is not None and key not in self:
                raise KeyError(key)
            return super().get(key, default)

    TABLE = Table()
"""


@pytest.mark.parametrize(
    ("called", "verdict"),
    [
        ("Backends._known[Backends._active](x)", "independent"),
        ("[check(x) for check in Backends._checks.get(Backends._active)]", "independent"),
        ("Backends._known[Kind.FAST](x)", "dependent"),
        ("TABLE.chosen(None, plain)(x)", "independent"),
        ("TABLE.chosen('plain', noisy)(x)", "independent"),
        ("TABLE.get('noisy', plain)(x)", "dependent"),
        ("(plain if 'other' not in TABLE else noisy)(x)", "independent"),
    ],
)
def test_a_function_out_of_a_table_is_followed(judge, called: str, verdict: str):
    outcome = judge(
        f"""
        from pkg.tables import TABLE, Backends, Kind, noisy, plain

        class Net(nn.Module):
            def forward(self, x):
                return {called}
        """,
        **{"site-packages__pkg__tables": REGISTRY, "site-packages__pkg____init__": ""},
    )
    assert (outcome.verdict, outcome.gaps) == (verdict, ())


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("nn.Linear(4, 4)", "nn.Dropout(0.5)", "dependent"),
        ("nn.Dropout(0.5)", "nn.Linear(4, 4)", "dependent"),
        ("nn.Linear(4, 4)", "nn.ReLU()", "independent"),
    ],
)
def test_either_of_two_lists_of_modules_is_gone_through(judge, first: str, second: str, verdict: str):
    outcome = judge(
        f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.ModuleList([{first}])
                self.second = nn.ModuleList([{second}, nn.ReLU()])

            def forward(self, x):
                for block in self.first if x.shape[0] > 3 else self.second:
                    x = block(x)
                return x
        """
    )
    assert (outcome.verdict, outcome.gaps) == (verdict, ())


def test_what_a_regular_expression_matches_is_no_module(judge):
    outcome = judge("""
        import re

        PATTERN = re.compile(r"(\\\\d+)" * 2)

        class Net(nn.Module):
            def forward(self, x):
                return x if PATTERN.fullmatch("12") else x + 1
    """)
    assert (outcome.verdict, outcome.gaps) == ("independent", ())


def test_a_side_that_raises_with_an_optional_argument_is_not_taken(judge):
    source = """
        class Net(nn.Module):
            def __init__(self, kind="default"):
                super().__init__()
                self.kind = kind
                self.register_buffer("scale", torch.ones(1))

            def forward(self, x, layer=None):
                kind = self.kind if layer is None else self.kind[layer]
                if "dynamic" in kind:
                    self.scale.copy_(x.max())
                return x * self.scale
    """
    assert judge(source, "Net('default')").verdict == "independent"
    assert judge(source, "Net('dynamic')").verdict == "dependent"


@pytest.mark.parametrize(("key", "verdict"), [("tags", "independent"), ("0", "dependent")])
def test_what_a_tensor_picks_of_a_parameter_is_a_copy(judge, key: str, verdict: str):
    outcome = judge(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.starts = nn.Parameter(torch.zeros(4, 4))

            def forward(self, x: torch.Tensor, tags: torch.Tensor):
                score = self.starts[{key}]
                score += x
                return score
    """)
    assert outcome.verdict == verdict


def test_a_static_forward_takes_its_first_argument_for_an_input(judge):
    outcome = judge("""
    class Net(nn.Module):
        @staticmethod
        def forward(x):
            return x.view(x.size(0), -1)
    """)
    assert (outcome.verdict, outcome.gaps) == ("independent", ())


@pytest.mark.parametrize(("layer", "verdict"), [("nn.ReLU()", "independent"), ("nn.Dropout()", "dependent")])
def test_a_module_that_is_called_by_a_method_of_its_own_is_followed(judge, layer: str, verdict: str):
    outcome = judge(f"""
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = {layer}

        def __call__(self, x):
            return self.layer(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)
    """)
    assert (outcome.verdict, outcome.gaps) == (verdict, ())


@pytest.mark.parametrize(
    ("seed", "verdict"),
    [
        ("torch.manual_seed(7)", "independent"),
        ("torch.manual_seed(int(x.sum()))", "dependent"),
        ("pass", "dependent"),
        ("if x.size(0) > 1:\n                torch.manual_seed(7)", "dependent"),
    ],
)
def test_what_is_drawn_after_a_seed_is_the_same_each_time(judge, seed: str, verdict: str):
    outcome = judge(f"""
    class Net(nn.Module):
        def forward(self, x):
            {seed}
            return x + torch.randn_like(x)
    """)
    assert outcome.verdict == verdict


def test_what_is_drawn_in_a_lambda_has_no_seed_before_it(judge):
    source = """
        class Net(nn.Module):
            def forward(self, x, noise=None):
                drawn = (lambda: torch.randn_like(x))() if noise is None else noise
                return x + drawn
    """
    assert judge(source).verdict == "dependent"


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (
            "for module in self.modules():\n    if isinstance(module, nn.Dropout):\n        module.p = 0.0",
            "independent",
        ),
        ("for module in self.children():\n    module.p = 0.0", "independent"),
        ("for module in self.modules():\n    module.p = 0.1", "dependent"),
        ("self.drop.p = 0", "independent"),
        ("self.apply(lambda module: setattr(module, 'p', 0.0))", "independent"),
        ("pass", "dependent"),
    ],
)
def test_what_is_assigned_to_a_layer_holds_for_what_it_was_made_with(
    tmp_path: Path, loop: str, expected: str
) -> None:
    source = f"""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
{textwrap.indent(loop, " " * 8)}

    def forward(self, x):
        return self.drop(x)
"""
    path = tmp_path / "model.py"
    path.write_text(source, encoding="utf-8")
    project = Project((tmp_path,))
    assert judge_mode(Program(project), find_target(project.module(path), "Net")).verdict == expected


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("return nn.Linear(4, 4)(x)", "dependent"),
        ("return nn.Linear(4, 4)(x) + self.kept.weight.sum()", "dependent"),
        ("return nn.Sequential(nn.ReLU(), nn.Linear(4, 4))(x)", "dependent"),
        ("return nn.LayerNorm(4)(x)", "independent"),
        ("return nn.MSELoss()(x, x * 2)", "independent"),
        ("with torch.set_grad_enabled(self.training):\n            return x * 2", "independent"),
    ],
)
def test_layers_made_in_a_forward_begin_at_random_and_recording_gradients_changes_no_value(
    judge, statement, verdict
):
    outcome = judge(f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = nn.Linear(4, 4)

    def forward(self, x):
        {statement}
""")
    assert outcome.verdict == verdict


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        (
            "m = nn.Linear(4, 4)\nm.weight = self.kept.weight\nm.bias = self.kept.bias\nreturn m(x)",
            "independent",
        ),
        ("m = nn.Linear(4, 4)\nm.weight.data.fill_(1.0)\nm.bias.data.zero_()\nreturn m(x)", "independent"),
        ("return nn.BatchNorm1d(4)(x)", "independent"),
        ("return nn.Dropout(0.5)(x)", "dependent"),
        ("self.kept.weight.data.fill_(1.0)\nreturn x", "dependent"),
        ("self.register_buffer('total', x.sum())\nreturn x", "dependent"),
        ("self.register_buffer('total', x.sum(), persistent=False)\nreturn x", "independent"),
        ("if x.shape[0] > 8:\n    self.register_buffer('total', x.sum())\nreturn x", "independent"),
        ("self.calls += 1\nreturn x", "independent"),
        ("self.calls = self.calls + 1\nreturn x", "independent"),
        ("self.calls += 1\nreturn x * self.calls", "dependent"),
        ("self.calls += 1\nif self.calls > 3:\n    x = -x\nreturn x", "dependent"),
        ("for i in range(3):\n    torch.manual_seed(i)\n    x = x + torch.rand(4)\nreturn x", "independent"),
        ("if x.sum() > 0:\n    torch.manual_seed(0)\nreturn x + torch.rand(4)", "dependent"),
        ("np.random.seed(3)\nreturn x * float(np.random.rand())", "independent"),
        ("return x + torch.empty_like(x)", "dependent"),
        ("y = x.new(3, 4)\nreturn x * y", "dependent"),
        ("y = torch.empty_like(x)\ny[:] = x\nreturn y", "independent"),
        ("y = torch.empty(3, 4)\nnn.init.ones_(y)\nreturn x * y", "independent"),
        ("y = torch.Tensor([1.0, 2.0])\nreturn x * y", "independent"),
        ("y = torch.empty(0, 4)\nreturn torch.cat([y, x])", "independent"),
    ],
)
def test_what_a_call_makes_itself(judge, statement, verdict):
    outcome = judge(f"""
import numpy as np

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept, self.calls = nn.Linear(4, 4), 0

    def forward(self, x):
{textwrap.indent(statement, "        ")}
""")
    assert outcome.verdict == verdict


@pytest.mark.parametrize(
    ("held", "layer", "container"),
    [
        ('{"a": nn.BatchNorm1d(3)}', 'self.held["a"]', "ModuleDict"),
        ("[[nn.Dropout(0.5)]]", "self.held[0][0]", "ModuleList"),
        ("(nn.Dropout(0.5),)", "self.held[0]", "ModuleList"),
    ],
)
def test_what_a_container_of_python_holds_is_told_to_be_kept_in_one_of_its_kind(
    judge, held, layer, container
):
    outcome = judge(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.held = {held}

            def forward(self, x):
                return {layer}(x)
    """)
    assert outcome.verdict == "dependent"
    (told,) = [finding(event, when) for event, when in outcome.events if when is None]
    assert (told.code, told.help) == (
        "TSG305",
        f"store it in an nn.{container}, or in an attribute of its own",
    )


def test_random_samples_that_are_given_are_the_same_in_each_call(judge):
    samples = "_random_samples=torch.full((1, 1, 2), 0.5)"
    for given, verdict in (("", "dependent"), (samples, "independent")):
        outcome = judge(f"""
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.pool = nn.FractionalMaxPool2d(2, output_size=2, {given})

                def forward(self, x):
                    return self.pool(x)
        """)
        assert outcome.verdict == verdict
