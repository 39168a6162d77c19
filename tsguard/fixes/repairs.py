"""Which rules have a fix, and what makes it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tsguard.report import Fix
from tsguard.report.records import dataclass, replace
from tsguard.rules import rule
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

Repair = Callable[["Event"], Fix | None]

# By rule, or by rule and variant: module and function.  The modules parse with libcst, whose
# import costs more than a small file's analysis, so they are imported when there is something to fix.
_REPAIRS = {
    "untyped-parameter": ("flags", "without_flag_or_annotated"),
    "untyped-parameter/container": ("annotations", "annotate_by_use"),
    "untyped-parameter/container-or-none": ("annotations", "annotate_by_use"),
    "untyped-parameter/unpacked": ("sequences", "unbind_or_type"),
    "untyped-parameter/unpacked-or-none": ("annotations", "annotate_by_use"),
    "untyped-default": ("parameters", "annotate_by_default"),
    "untyped-number": ("parameters", "annotate_number"),
    "parameter-kind/variadic": ("forwarded_arguments", "drop_or_name"),
    "parameter-kind/keyword-only": ("signatures", "allow_by_position"),
    "parameter-kind/positional-only": ("signatures", "allow_by_name"),
    "parameter-kind/receiver": ("signatures", "make_static"),
    "argument-count/missing": ("arguments", "pass_order"),
    "argument-count/together": ("arguments", "pass_default"),
    "ignored-keyword": ("arguments", "pass_by_position"),
    "branch-type-mismatch": ("lists", "list_for_tuples"),
    "branch-type-mismatch/conditional": ("inlined_helpers", "agree_or_inline"),
    "branch-undefined": ("flags", "without_flag_or_joined"),
    "reassigned-type": ("dead_starts", "drop_dead_start"),
    "none-then-value": ("variables", "annotate_none"),
    "empty-container-type": ("variables", "annotate_container"),
    "missing-return": ("branches", "raise_at_the_end"),
    "return-type-mismatch": ("results", "annotate_result"),
    "return-type-mismatch/annotated": ("annotations", "return_what_is_returned"),
    "default-type-mismatch": ("annotations", "default_of_type"),
    "default-type-mismatch/none": ("parameters", "make_optional"),
    "mutable-default": ("annotations", "drop_mutable_default"),
    "type-comment": ("annotations", "drop_type_comment"),
    "constructor-indentation": ("class_annotations", "indent_constructor"),
    "unknown-annotation": ("named_types", "name_the_type"),
    "unknown-annotation/quoted-union": ("named_types", "write_optional"),
    "class-annotation": ("class_annotations", "drop_class_annotation"),
    "class-annotation/string": ("class_annotations", "drop_class_annotation"),
    "class-annotation/value": ("class_annotations", "drop_class_annotation"),
    "class-annotation/submodule": ("class_annotations", "drop_class_annotation"),
    "class-annotation/constant": ("class_annotations", "drop_class_annotation"),
    "annotation-placement/in-block": ("annotations", "drop_local_annotation"),
    "annotation-placement/no-value": ("annotations", "drop_local_annotation"),
    "annotated-self-attribute": ("variables", "drop_annotation"),
    "literal-type": ("annotations", "write_floats"),
    "optional-not-refined": ("optionals", "assert_not_none"),
    "optional-not-refined/expression": ("optionals", "assert_not_none"),
    "optional-not-refined/argument": ("optionals", "allow_or_assert"),
    "optional-truthiness": ("expressions", "test_for_none"),
    "optional-truthiness/valued": ("expressions", "test_for_none"),
    "condition-type/tuple": ("conversions", "test_for_length"),
    "condition-type/object": ("conversions", "test_for_length"),
    "condition-type/container": ("conversions", "test_for_length"),
    "not-callable/none": ("final_flags", "declare_flag"),
    "operator-types": ("signatures", "take_self"),
    "operator-types/absent": ("conversions", "ask_for_none_first"),
    "operator-types/none": ("conversions", "compare_with_none"),
    "argument-type/inferred": ("annotations", "annotate_by_call"),
    "argument-type": ("inlined_helpers", "convert_or_inline"),
    "argument-type/summed": ("sums", "add_tensors"),
    "argument-type/number-first": ("numbers", "name_numbers"),
    "number-before-tensor/alpha": ("numbers", "name_numbers"),
    "argument-type/range": ("conversions", "convert_to_int"),
    "unknown-keyword": ("keywords", "drop_default"),
    "unknown-operator": ("torch_operators", "write_otherwise"),
    "attribute-assignment": ("stored_attributes", "change_by_method"),
    "attribute-assignment/undefined": ("stored_attributes", "create_in_init"),
    "unknown-keyword/renamed": ("conversions", "rename_keyword"),
    "none-argument": ("arguments", "leave_none_out"),
    "none-argument/omitted": ("annotations", "annotate_omitted"),
    "int-for-float": ("expressions", "write_as_float"),
    "tensor-member/replaced": ("conversions", "call_torch_instead"),
    "tensor-index/number": ("conversions", "convert_to_int"),
    "unpacking-count/tensor": ("sequences", "unbind"),
    "unpacking-target/list": ("sequences", "unbracket"),
    "item-assignment/slice": ("slices", "join_slices"),
    "starred-list": ("lists", "join_lists"),
    "starred-list/tuple": ("sequences", "keep_list"),
    "starred-list/target": ("sequences", "slice_the_rest"),
    "not-iterable/tuple": ("refining", "assert_tuple"),
    "not-iterable/unequal": ("containers_of_modules", "index_the_others"),
    "nested-definition/function": ("definitions", "move_out"),
    "unsupported-statement/import": ("statements", "import_above"),
    "unsupported-statement/loop-else": ("statements", "leave_loop_first"),
    "unsupported-statement/bare-raise": ("statements", "name_exception"),
    "unsupported-statement/ellipsis": ("statements", "write_pass"),
    "unsupported-expression/walrus": ("statements", "assign_before"),
    "unsupported-expression/set": ("statements", "list_for_set"),
    "unsupported-expression/unary-plus": ("statements", "drop_unary_plus"),
    "unsupported-expression/formatted-fstring": ("statements", "plain_field"),
    "unsupported-expression/augmented-operator": ("statements", "write_operator_out"),
    "unsupported-expression/ellipsis": ("statements", "index_all"),
    "comprehension-form/filter": ("statements", "loop_for_comprehension"),
    "comprehension-form/nested": ("statements", "loop_for_comprehension"),
    "undefined-name/block": ("branches", "define_before"),
    "undefined-name/deleted": ("statements", "keep_variable"),
    "global-value": ("constants", "hold_global"),
    "global-value/container": ("constants", "hold_global"),
    "unknown-method/none": ("final_flags", "declare_flag"),
    "isinstance-class": ("guards", "ask_in_python"),
    "isinstance-untyped/variable": ("guards", "ask_for_tensor"),
    "dynamic-attribute/name": ("computed_names", "call_by_name"),
    "python-call": ("casts", "drop_cast_or_leave"),
    "python-call/builtin": ("first_parameter", "hold_like_or_leave"),
    "python-object": ("legacy_types", "convert_or_choose"),
    "module-as-value": ("sliced_modules", "call_each_or_loop"),
    "python-object/attribute": ("guards", "leave_to_python"),
    "numpy-call": ("products", "multiply_or_use_math"),
    "unscriptable-function": ("held_answers", "hold_or_leave"),
    "unscriptable-function/method": ("guards", "leave_to_python"),
    "unscriptable-dependency": ("einops_calls", "call_methods"),
    "context-manager": ("context_managers", "enter_in_python"),
    "super-call": ("parents", "reach_parent"),
    "module-built-in-forward": ("layers", "call_function_instead"),
    "class-built-in-forward": ("layers", "drop_variable"),
    "class-built-in-forward/no-init": ("layers", "drop_variable"),
    "grad-decorator-names": ("signatures", "leave_decorator_for_with"),
    "grad-decorator-names/autocast": ("signatures", "leave_decorator_for_with"),
    "grad-decorator-names/other": ("signatures", "leave_decorator_for_with"),
    "grad-decorator": ("signatures", "leave_decorator_for_with"),
    "missing-attribute": ("branches", "ask_for_attribute"),
    "class-attribute": ("class_annotations", "make_constant"),
    "unconvertible-attribute": ("definitions", "give_up_object"),
    "unconvertible-attribute/empty": ("definitions", "give_up_object"),
    "unconvertible-attribute/argument-dict": ("held_fields", "hold_field"),
    "unconvertible-attribute/argument": ("held_fields", "hold_field"),
    "unconvertible-attribute/function": ("layers", "call_function_itself"),
    "attribute-type-mismatch": ("class_annotations", "declare_attribute"),
    "module-index": ("containers_of_modules", "loop_over_modules"),
    "module-index/key": ("chosen_modules", "choose_from_dict"),
    "legacy-norm-hook": ("norm_hooks", "hook_by_function"),
    "module-as-value/unpacked": ("module_pairs", "index_pair"),
    "sequential-types": ("branches", "raise_where_nothing_is_returned"),
    "keyword-unpacking": ("conditional_keywords", "pass_by_case"),
    "unscriptable-layer/number": ("layers", "make_with_float"),
    "missing-super-init": ("layers", "inherit_init"),
    "lambda": ("lambdas", "do_without_lambda"),
    "argument-type/opaque": ("numbers", "turn_round_or_write_out"),
    "enum-identity": ("expressions", "compare_by_value"),
    "none-default": ("parameters", "make_optional"),
    "boolean-operand": ("expressions", "choose_by_condition"),
    "lost-change": ("statements", "assign_part"),
    "lost-change/remainder": ("statements", "write_operator_out"),
    "number-accumulates-tensor": ("variables", "start_with_tensor"),
    "builtin-extreme": ("conversions", "take_torch_extreme"),
    "tensor-of-values": ("conversions", "stack_tensors"),
    "tensor-of-values/tensor": ("conversions", "stack_tensors"),
    "tensor-condition": ("traced", "choose_with_where"),
    "tensor-condition/random": ("traced", "choose_with_where"),
    "size-to-number/cast": ("traced", "keep_size"),
    "size-to-number/len": ("traced", "ask_for_size"),
    "call-without-forward": ("layers", "rename_call"),
    "result-kind": ("conversions", "convert_to_int"),
    "result-kind/number": ("annotations", "return_what_is_returned"),
    "missing-typing-import": ("imports", "import_typing_name"),
    "deprecated-entry-point/optimize": ("calls", "drop_optimize"),
    "deprecated-entry-point/script-method": ("script_modules", "make_plain"),
    "deprecated-entry-point/drop": ("calls", "mark_unused"),
}


# Where a helper was asked whether a value is None, that comes before the type of the value.
_ASKED = frozenset(
    {
        "argument-type",
        "argument-type/inferred",
        "module-as-value",
        "none-argument",
        "not-callable/none",
        "optional-not-refined",
        "optional-not-refined/argument",
        "optional-not-refined/expression",
        "unknown-method/none",
    }
)
# Where a flag decides between two paths, it is declared: an annotation of both comes after.
_FLAGGED = frozenset({"return-type-mismatch"})
# What is None may be used in a branch only that a flag of the constructor leaves out.
_LEFT_OUT = frozenset({"none-argument", "operator-types/absent"})
# What these modules write rests on the type of a value, which is another one for other arguments.
_BY_TYPE = frozenset(
    {
        "annotations",
        "class_annotations",
        "conversions",
        "expressions",
        "flags",
        "parameters",
        "results",
        "sequences",
    }
)
# What is wrong at one place is mended in one way, for however many targets it is reported.
_MADE: WeakKeyDictionary[SourceFile, dict[Hashable, _Made]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class _Made:
    fix: Fix | None
    by_type: bool = False


def repair(event: Event, *, is_conditional: bool = False) -> Fix | None:
    """The fix for what an event reports; None where there is none, or none that is sure to be right here.

    One that rests on a type is not safe for what only some arguments show, ``is_conditional``.
    """
    if event.rule not in _REPAIRS or rule(event.rule).fix == "none":
        return None
    known = _MADE.setdefault(event.module.file, {})
    key = event.key
    if key not in known:
        known[key] = _repair(event)
    made = known[key]
    if made.fix is not None and made.by_type and is_conditional:
        return replace(made.fix, applicability="unsafe")
    return made.fix


def _repair(event: Event) -> _Made:
    asked = _by("asked_by_helpers", "ask_in_place", event) if event.rule in _ASKED else None
    declared = _by("final_flags", "declare_flag", event) if event.rule in _FLAGGED else None
    if asked is not None or declared is not None:
        return _Made(asked or declared)
    module, function = _REPAIRS[event.rule]
    made = _by(module, function, event)
    if made is not None:
        return _Made(made, module in _BY_TYPE)
    return _Made(_by("final_flags", "declare_flag", event) if event.rule in _LEFT_OUT else None)


def _by(module: str, function: str, event: Event) -> Fix | None:
    make: Repair = getattr(importlib.import_module(f"tsguard.fixes.{module}"), function)
    return make(event)


def fixable_rules() -> frozenset[str]:
    """The names of the rules that some fix is for; comments are no events."""
    return frozenset(name.partition("/")[0] for name in _REPAIRS) | {"unused-suppression"}
