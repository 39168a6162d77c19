"""The loop of a repair: lint, mend, ask torch, keep or drop, and go on from torch's next objection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from tsguard.fixes.applying import applied
from tsguard.fixes.left_out import left_out
from tsguard.fixes.observed import absent_seen, annotations_seen, returns_any, retyped_seen
from tsguard.fixes.refining import assert_result
from tsguard.fixes.variadics import variadics_seen
from tsguard.linting.run import lint, search_paths
from tsguard.project import Project
from tsguard.project.modules import Module
from tsguard.repairing.fixing import Change
from tsguard.repairing.judging import judged
from tsguard.repairing.plan import line_in, steps_by_hand
from tsguard.repairing.results import Judged, Repaired, Step
from tsguard.repairing.scratch import Scratch, origin_of, scratch
from tsguard.report import Finding, Fix
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits
from tsguard.settings.config import Settings
from tsguard.settings.requests import Job, Plan
from tsguard.source import SourceFile

# One edit brings the next objection to light; more rounds than this help nobody.
_ROUNDS = 12
# Rounds of lint before torch is asked: that takes seconds, as it imports the code anew.
_STEPS = 4
Tell = Callable[[str], None]
_Annotations = Callable[[Module, int, str, Mapping[str, tuple[str, ...]]], Iterable[Fix]]


def repair_all(
    launcher: Launcher,
    subjects: Sequence[Subject],
    settings: Settings,
    limits: Limits,
    tell: Tell,
) -> list[Repaired]:
    """Repair targets one after the other, each on top of the last; none is lost or changed for another.

    What eager does with each is asked before the first edit.  Nothing is written: the files stay as they are.
    """
    repairs: list[_Repair] = []
    with ExitStack() as open_:
        copies: dict[tuple[str, str], Scratch] = {}
        for number, subject in enumerate(subjects):
            key = (str(origin_of(subject)), subject.module.partition(".")[0])
            if key not in copies:
                copies[key] = open_.enter_context(scratch(subject))
            copy = copies[key]
            kept = copy.copy.parent / f"kept-{number}.pt"
            repairs.append(_Repair(launcher, subject, copy, kept, settings, limits, tell))
        for repair in repairs:
            repair.look()
        done: list[Repaired] = []
        for repair in repairs:
            done.append(repair.run([r for r in repairs if r is not repair and r.copy is repair.copy]))
    return done


# Words on a target that eager runs as it is: it can be told whether an edit for another changes it.
_RUNNING = ("ok", "refused", "raises", "diverges")


@dataclass(slots=True)
class _Repair:
    """The repair of one target, under way."""

    launcher: Launcher
    subject: Subject
    copy: Scratch
    kept: Path
    settings: Settings
    limits: Limits
    tell: Tell
    now: Judged = field(default_factory=lambda: Judged("stopped"))
    there: Subject = field(init=False)
    rejected: set[object] = field(default_factory=set)
    careful: bool = False
    old: dict[Path, str] = field(default_factory=dict)

    def look(self) -> None:
        """Have eager run the target as it is, which later judgements are compared with."""
        self.there = self.copy.subject(self.subject)
        self.tell(f"{self.subject.spec}: eager")
        self.now = self._judge()
        inputs = self.now.called_with if self.now.called_with is not None else self.subject.inputs
        constructor = self.now.constructor or self.subject.constructor
        self.there = replace(self.there, constructor=constructor, inputs=inputs)

    def run(self, others: Sequence[_Repair]) -> Repaired:
        """Mend until it scripts or nothing helps.

        Args:
            others: targets that share files with this one.
        """
        before = self.now
        if any(other.old for other in others) and before.status not in ("stopped", "crashed"):
            before = self.now = self._judge()
        if before.status in ("ok", "stopped", "crashed", "changed"):
            return Repaired(self.subject.spec, before, before)
        made = self._mend(before, unsafe=True)
        farthest = self.now
        findings = self._lint() if farthest.status != "ok" else ()
        left, parts = steps_by_hand(findings, farthest, self.copy.read), self._parts()
        texts = {step.finding.path: self.copy.read(Path(step.finding.path)).text for step in left}
        lost = self._lost(others) if self.now.status == "ok" else ""
        if self.now.status != "ok" or lost:
            self._give_up()
            self.rejected.clear()
            self.now = before
            made = self._mend(before, unsafe=False)
            if self._lost(others):
                self._give_up()
                made = []
        changes = {
            str(self._shown(path)): Change(text, now)
            for path, text in self.old.items()
            if (now := self.copy.read(path).text) != text
        }
        after = self.now if self.now.status == "ok" else farthest
        if lost:
            after = replace(after, status="changed", changed=lost)
        shown = tuple(self._as_shown(step, texts[step.finding.path]) for step in left)
        return Repaired(self.subject.spec, before, after, changes, tuple(dict.fromkeys(made)), shown, parts)

    def _lost(self, others: Sequence[_Repair]) -> str:
        """What the edits do to another target, "" where they do nothing."""
        for other in others if self.old else ():
            if other.now.status not in _RUNNING:
                continue
            word = other._judge()
            if word.status not in _RUNNING:
                return f"{other.subject.spec} is not what it was"
            if other.now.status == "ok" and word.status != "ok":
                return f"{other.subject.spec} scripts no more"
        return ""

    def _give_up(self) -> None:
        """Make the files what they were before the first edit for this target."""
        self.copy.write(self.old)
        self.old = {}

    def _judge(self) -> Judged:
        return judged(self.launcher, self.there, self.kept, self.limits)

    def _parts(self) -> tuple[str, ...]:
        return () if self.now.status == "ok" else self.now.parts

    def _shown(self, path: Path) -> Path:
        """The path of a file of the copy as the user knows it."""
        here = self.copy.here(path) or path
        relative = os.path.relpath(here)
        return here if relative.startswith("..") else Path(relative)

    def _as_shown(self, step: Step, text: str) -> Step:
        """A step at the place that the user knows, found in a text that may have been given up since."""
        path = Path(step.finding.path)
        now = self.copy.read(path).text
        finding = replace(
            step.finding, path=str(self._shown(path)), line=line_in(text, now, step.finding.line)
        )
        return replace(step, finding=finding, others=tuple(line_in(text, now, line) for line in step.others))

    def _mend(self, before: Judged, *, unsafe: bool) -> list[str]:
        """Edit round by round; what the edits that were kept do."""
        # With the types that eager passes lint has less to guess.
        named = self._keep(self._seen(before, variadics_seen)) if unsafe else []
        made = [fix.message for fix in (*named, *self._keep(self._seen(self.now if named else before)))]
        for number in range(_ROUNDS):
            if self.now.status == "ok":
                break
            self.tell(f"{self.subject.spec}: round {number + 1}")
            findings = self._lint()
            fixes = [finding.fix for finding in findings if finding.fix is not None]
            fixes += self._told(self.now)
            kept = self._keep_steps(findings, unsafe=unsafe)
            kept = kept or self._keep([fix for fix in fixes if unsafe or fix.applicability == "safe"])
            # Functions that an edit has made were not seen before.
            kept = kept or self._keep(self._seen(self.now))
            # What takes None for a Tensor may compile, and asks in vain whether it is None.
            kept = kept or self._keep(self._seen(self.now, absent_seen))
            kept = kept or self._keep_what_helps(self._left_out(findings))
            kept = kept or self._keep_what_helps(self._seen(self.now, retyped_seen))
            made += [fix.message for fix in kept]
            if not kept:
                break
        return made

    def _keep_steps(self, findings: Sequence[Finding], *, unsafe: bool) -> list[Fix]:
        """The fixes of several rounds of lint, if eager does with all of them as it did; else it is one by one from then on."""
        old: dict[Path, str] = {}
        made: list[Fix] = []
        for _ in range(0 if self.careful else _STEPS):
            fixes = [
                f.fix for f in findings if f.fix is not None and (unsafe or f.fix.applicability == "safe")
            ]
            fixes = [fix for fix in dict.fromkeys(fixes) if self._key(fix) not in self.rejected]
            texts = dict(self._edited(fixes, {}))
            if not texts:
                break
            old = {**{path: self.copy.read(path).text for path in texts}, **old}
            self.copy.write(texts)
            made += fixes
            findings = self._lint()
            if not any(finding.severity == "error" for finding in findings):
                break
        if not made or self._confirmed(old):
            return made
        self.careful = True
        return []

    def _keep(self, fixes: Sequence[Fix]) -> list[Fix]:
        """Those of the fixes that do no harm: all at once, or else one after the other."""
        wanted = [fix for fix in dict.fromkeys(fixes) if self._key(fix) not in self.rejected]
        # The places of all are those of the code as it is before the first.
        files: dict[Path, SourceFile] = {}
        kept = self._kept([], wanted, files)
        self.rejected |= {self._key(fix) for fix in wanted if fix not in kept}
        return kept

    def _kept(self, kept: list[Fix], wanted: list[Fix], files: dict[Path, SourceFile]) -> list[Fix]:
        """Fixes that were kept, with those that may join them; what does harm is found by halves."""
        if not wanted or self._try([*kept, *wanted], files):
            return [*kept, *wanted]
        half = len(wanted) // 2
        if not half:
            return kept
        return self._kept(self._kept(kept, wanted[:half], files), wanted[half:], files)

    def _keep_what_helps(self, fixes: Sequence[Fix]) -> list[Fix]:
        """The first of the fixes after which torch takes the code, or has something else against it."""
        for fix in dict.fromkeys(fixes):
            if self._key(fix) in self.rejected:
                continue
            self.rejected.add(self._key(fix))
            word, objection = self.now, self._objection()
            old = {Path(e.path): self.copy.read(Path(e.path)).text for e in fix.edits}
            if self._try([fix], {}):
                if self._objection() != objection:
                    return [fix]
                self.copy.write(old)
                self.now = word
        return []

    def _objection(self) -> object:
        """What torch has against the code, wherever its lines have moved."""
        message = self.now.error.message if self.now.error is not None else ""
        files = {file: self.copy.read(Path(file)) for file, _ in self.now.places}
        lines = [files[file].lines[line - 1] for file, line in self.now.places]
        return self.now.status, message.partition("\n")[0], lines

    def _left_out(self, findings: Sequence[Finding]) -> list[Fix]:
        """What may spare torch the lines that it, or lint, objects to."""
        project = Project(search_paths(self.settings))
        lines = [*self.now.places, *((f.path, f.line) for f in findings if f.severity == "error")]
        found: list[Fix] = []
        for file, line in dict.fromkeys(lines):
            if self.copy.here(file) is not None:
                found += left_out(project.module(Path(file), shown=file), line)
        return found

    def _key(self, fix: Fix) -> object:
        """What makes a fix the same after lines have moved."""
        return fix.message, tuple((edit.path, edit.content) for edit in fix.edits)

    def _try(self, fixes: Sequence[Fix], files: dict[Path, SourceFile]) -> bool:
        """Whether eager does with the fixes as it did and torch does no worse; if not, nothing is changed."""
        texts = dict(self._edited(fixes, files))
        old = {path: self.copy.read(path).text for path in texts}
        if texts == old:
            return False
        self.copy.write(texts)
        return self._confirmed(old)

    def _confirmed(self, old: Mapping[Path, str]) -> bool:
        """Whether that is so of edits that are made; if not, the files become what they were."""
        word = self._judge()
        if word.status in ("changed", "stopped", "crashed") or (
            self.now.status == "raises" and word.status == "refused"
        ):
            self.copy.write(old)
            return False
        self.now = word
        self.old = {**old, **self.old}
        return True

    def _edited(self, fixes: Iterable[Fix], files: dict[Path, SourceFile]) -> Iterator[tuple[Path, str]]:
        by_file: dict[str, list[Fix]] = {}
        for fix in fixes:
            paths = {edit.path for edit in fix.edits}
            if len(paths) == 1:
                by_file.setdefault(paths.pop(), []).append(fix)
        for path, own in by_file.items():
            file = files.setdefault(Path(path), self.copy.read(Path(path)))
            text, _ = applied(file, own)
            if text != file.text and _parses(path, text):
                yield Path(path), text

    def _lint(self) -> list[Finding]:
        """The findings of the target in the copy, with fixes in every file of it."""
        made = self.there.constructor
        expression = made if made is not None else self.there.qualname
        path = Path(self.there.file)
        job = Job(path, str(path), False, ((f"{path}:{expression}", expression),))
        settings = replace(self.settings, cache=False, jobs=1, baseline=None, root=self.copy.copy)
        own = (*self.settings.search_paths, *search_paths(self.settings))
        settings = replace(
            settings, search_paths=tuple(dict.fromkeys(p for p in own if p != self.copy.origin))
        )
        report, _ = lint(Plan((job,), mended=self.copy.copy), settings)
        return [_absolute(finding) for finding in report.findings if finding.family == "script"]

    def _told(self, now: Judged) -> list[Fix]:
        """Assertions of what calls give, by what eager gave, where a function is annotated to return Any."""
        project = Project(search_paths(self.settings))
        found: list[Fix | None] = []
        for seen in now.seen:
            path = Path(seen.file)
            if self.copy.here(path) is None or not path.is_file():
                continue
            if not returns_any(project.module(path, shown=str(path)), seen.line, seen.name):
                continue
            for file, line, type_ in seen.results:
                if self.copy.here(file) is not None:
                    caller = project.module(Path(file), shown=file)
                    found.append(assert_result(caller, line, seen.name, type_))
        return [fix for fix in found if fix is not None]

    def _seen(self, before: Judged, annotations: _Annotations = annotations_seen) -> list[Fix]:
        """Annotations by what eager passed."""
        project = Project(search_paths(self.settings))
        found: list[Fix] = []
        for seen in before.seen:
            path = Path(seen.file)
            if self.copy.here(path) is not None and path.is_file():
                module = project.module(path, shown=str(path))
                found += annotations(module, seen.line, seen.name, seen.types)
        return found


def _absolute(finding: Finding) -> Finding:
    """A finding with whole paths: reports name files below the working folder from there, torch does not."""
    path = os.path.abspath(finding.path)
    if finding.fix is None:
        return replace(finding, path=path)
    edits = tuple(replace(edit, path=os.path.abspath(edit.path)) for edit in finding.fix.edits)
    return replace(finding, path=path, fix=replace(finding.fix, edits=edits))


def _parses(path: str, text: str) -> bool:
    file = SourceFile(path, text)
    _ = file.tree  # only parsing tells
    return file.broken is None
