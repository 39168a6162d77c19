"""How often attempts need no configuration: inputs and constructor arguments found by themselves.

    python benchmarks/zero_config.py fixtures|torchvision|vit_pytorch [NAME...]

A target counts when its matrix is complete: it was constructed and called, and torch
gave its own word on both script and trace (accepted or refused, in time). A refusal of
the type of an input says that the guess was wrong, nothing of the target.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from tsguard.project import Project
from tsguard.project.targets import targets_of
from tsguard.report import Attempt
from tsguard.runtime.attempts import Assignment, Bounds, Step, TargetAttempts, attempt_target
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.pool import attempt_all
from tsguard.runtime.progress import Progress
from tsguard.runtime.site import LocalSite
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits

SPECS = (AttemptSpec("script"), AttemptSpec("trace"))
BOUNDS = Bounds(Limits(seconds=120, memory_mb=14_000), Settings(timing_seconds=0))

# The two operators that models call, in Python, for where torchvision's compiled ones do not load
# (its build does not fit that of torch).
KERNELS = """
import torch


def nms(dets, scores, iou_threshold):
    order = scores.argsort(descending=True)
    area = (dets[:, 2] - dets[:, 0]) * (dets[:, 3] - dets[:, 1])
    keep = []
    while order.numel():
        best, order = order[0], order[1:]
        keep.append(best)
        corner = torch.maximum(dets[best, :2], dets[order, :2])
        far = torch.minimum(dets[best, 2:], dets[order, 2:])
        inter = (far - corner).clamp(min=0).prod(1)
        order = order[inter / (area[best] + area[order] - inter) <= iou_threshold]
    return torch.stack(keep) if keep else torch.empty(0, dtype=torch.long)


def roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned):
    import torch

    out = input.new_zeros(rois.shape[0], input.shape[1], pooled_height, pooled_width)
    for index, roi in enumerate(rois):
        x1, y1, x2, y2 = (roi[1:] * spatial_scale).tolist()
        x1, y1 = max(int(x1), 0), max(int(y1), 0)
        part = input[int(roi[0]), :, y1 : max(int(y2), y1 + 1), x1 : max(int(x2), x1 + 1)]
        if part.numel():
            out[index] = torch.nn.functional.adaptive_avg_pool2d(part, (pooled_height, pooled_width))
    return out
"""
# Before 0.28, torchvision cannot be imported without them: they are defined as soon as an interpreter imports it.
DEFINITIONS = """
import sys


class BeforeTorchvision:
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            define()
        return None


sys.meta_path.insert(0, BeforeTorchvision())


def define():
    import torch

    global library
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define(
        "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height,"
        " SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"
    )
    library.define("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor")
    for name in ("qnms", "qroi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d", "_roi_align_backward"):
        library.define(name + "(Tensor input, Tensor rois) -> Tensor")
    for name in ("_roi_pool_backward", "_ps_roi_align_backward", "_ps_roi_pool_backward", "_deform_conv2d_backward"):
        library.define(name + "(Tensor input, Tensor rois) -> Tensor")
"""
VISION = """
import sys

import torchvision.extension

if not torchvision.extension._has_ops():
    import kernels

    library = torchvision.extension.torch.library.Library("torchvision", "IMPL")
    library.impl("nms", kernels.nms, "CPU")
    library.impl("roi_align", kernels.roi_align, "CPU")
    torchvision.extension._has_ops = lambda: True
    sys.modules["torchvision.ops.roi_align"]._has_ops = torchvision.extension._has_ops
from torchvision.models import *
from torchvision.models.detection import *
from torchvision.models.optical_flow import *
from torchvision.models.quantization import(
    googlenet as quantized_googlenet, inception_v3 as quantized_inception_v3,
    mobilenet_v2 as quantized_mobilenet_v2, mobilenet_v3_large as quantized_mobilenet_v3_large,
    resnet18 as quantized_resnet18, resnet50 as quantized_resnet50,
    resnext101_32x8d as quantized_resnext101_32x8d, resnext101_64x4d as quantized_resnext101_64x4d,
    shufflenet_v2_x0_5 as quantized_shufflenet_v2_x0_5, shufflenet_v2_x1_0 as quantized_shufflenet_v2_x1_0,
    shufflenet_v2_x1_5 as quantized_shufflenet_v2_x1_5, shufflenet_v2_x2_0 as quantized_shufflenet_v2_x2_0,
)
from torchvision.models.segmentation import *
from torchvision.models.video import *
"""


def launcher_with_operators(folder: Path) -> Launcher:
    (folder / "kernels.py").write_text(KERNELS)
    if subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True).returncode:
        (folder / "sitecustomize.py").write_text(DEFINITIONS)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return Launcher()


def package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: pip install --no-deps {name}")
    return Path(spec.origin).parent


def classes_in(files: list[Path]) -> Iterator[Subject]:
    """Every module class that the files define."""
    project = Project()
    for file in files:
        module = project.module(file)
        for target in targets_of(project, module):
            yield Subject(
                f"{file.name}:{target.qualname}",
                str(file),
                file.name,
                str(module.root),
                module.name,
                target.qualname,
                target.kind,
            )


def torchvision_builders(folder: Path) -> Iterator[Subject]:
    """A call of every registered model builder, as ``torchvision.models.list_models`` has them."""
    file = folder / "vision.py"
    file.write_text(VISION)
    for source in sorted(package_folder("torchvision").glob("models/**/*.py")):
        for node in ast.parse(source.read_text()).body:
            if isinstance(node, ast.FunctionDef) and any(
                "register_model" in ast.unparse(d) for d in node.decorator_list
            ):
                prefix = "quantized_" if source.parent.name == "quantization" else ""
                known = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)}
                offline = "weights_backbone=None" if "weights_backbone" in known else ""
                call = f"{prefix}{node.name}({offline})"
                yield Subject(
                    call, str(file), file.name, str(folder), file.stem, prefix + node.name, "module", call
                )


def subjects(collection: str, folder: Path) -> list[Subject]:
    if collection == "torchvision":
        return list(torchvision_builders(folder))
    if collection == "fixtures":
        place = Path(__file__).resolve().parents[1] / "fixtures"
        return list(classes_in(sorted(place.glob("*.py"))))
    return list(classes_in(sorted(package_folder(collection).glob("**/*.py"))))


class TimedSite(LocalSite):
    """This machine, noting the seconds that each target took, and each phase of all targets."""

    spent: ClassVar[dict[str, float]] = {}
    phases: ClassVar[Counter[str]] = Counter()

    def attempt(self, assignment: Assignment, bounds: Bounds, step: Step) -> TargetAttempts:
        started = time.monotonic()
        phase, since = "start", started

        def timed(text: str) -> None:
            nonlocal phase, since
            now = time.monotonic()
            self.phases[phase] += now - since
            phase, since = text.removeprefix(f"{assignment.subject.spec}: "), now
            step(text)

        found = attempt_target(self.run, assignment.subject, assignment.specs, bounds, timed)
        timed("")
        self.spent[assignment.subject.spec] = time.monotonic() - started
        print(f"{assignment.subject.spec}: {describe(found)}", file=sys.stderr, flush=True)
        return found


def complete(found: TargetAttempts) -> bool:
    """Whether torch gave its own word on both backends, for a module that was called."""
    attempts = [found.attempts.get(spec) for spec in SPECS]
    return found.callable and all(
        a is not None and a.status in ("ok", "failed", "diverged") and not is_about_type(a) for a in attempts
    )


def is_about_type(attempt: Attempt) -> bool:
    """Whether the compiled target took no value of the type that was guessed."""
    return (
        attempt.error is not None and "Expected a value of type" in attempt.error.message.partition("\n")[0]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", help="fixtures, torchvision, or an installed package of modules")
    parser.add_argument("names", nargs="*", help="only targets whose name contains one of these")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for complete ones too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, launcher_with_operators(Path(folder)) as launcher:
        wanted = [
            s
            for s in subjects(options.collection, Path(folder))
            if not options.names or any(n in s.spec for n in options.names)
        ]
        started = time.monotonic()
        site = TimedSite(launcher, [], options.workers)
        found = attempt_all(site, [Assignment(s, SPECS) for s in wanted], BOUNDS, Progress())
        seconds = time.monotonic() - started
    for result in sorted(found, key=lambda r: r.subject.spec):
        if options.verbose or not complete(result):
            print(
                f"{result.subject.spec:50} {site.spent.get(result.subject.spec, 0):.1f} s {describe(result)}"
            )
    tally = Counter(
        "complete"
        if complete(r)
        else "called"
        if r.callable
        else "constructed"
        if r.constructor or (r.stop and r.stop.step == "inputs")
        else "not constructed"
        for r in found
    )
    print("  ".join(f"{phase} {spent:.1f} s" for phase, spent in site.phases.most_common()))
    constructed = len(found) - tally["not constructed"]
    print(f"{options.collection}: {len(found)} targets in {seconds:.0f} s: {dict(tally)}")
    print(
        f"complete: {tally['complete'] / len(found):.1%} of all, {tally['complete'] / max(constructed, 1):.1%} of those constructed"
    )


def describe(result: TargetAttempts) -> str:
    made = f"{result.constructor or ''} {' '.join(result.inputs or ())} [{result.source}]"
    if result.stop is not None and not result.callable:
        error = result.stop.error
        place = f"{error.path}:{error.line}" if error.path else ""
        return f"stopped at {result.stop.step}: {error.type}: {error.message[:160]!r} {place} {result.constructor or ''} {result.stop.needed}"
    return made + " " + ", ".join(f"{s.backend} {a.status}" for s, a in result.attempts.items())


if __name__ == "__main__":
    main()
