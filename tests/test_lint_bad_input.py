"""Bad input: one clear message, the right exit status, and everything else still done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.samples import NET

POISON = 'raise SystemExit("torch was imported")\n'


@pytest.fixture
def net(folder):
    (folder / "net.py").write_text(NET)
    return folder / "net.py"


class TestPaths:
    def test_a_path_that_does_not_exist(self, lint, net):
        ran = lint("nett.py", "net.py")
        assert ran.status == 2
        assert "no such file or folder: 'nett.py'; did you mean 'net.py'?" in ran.err
        assert ran.targets == ["net.py:Net", "net.py:Other"]
        assert "nett.py" in ran.report["errors"][0]["message"]

    def test_a_path_with_a_drive_is_no_target(self, lint, net):
        ran = lint("C:\\gone\\nett", "net.py")
        assert ran.status == 2
        assert "no such file or folder" in ran.err

    def test_a_path_that_is_like_none_suggests_none(self, lint, net):
        ran = lint("nope.py")
        assert ran.status == 2
        assert "did you mean" not in ran.err

    def test_a_folder_without_python(self, lint, folder, net):
        (folder / "docs").mkdir()
        (folder / "docs" / "index.md").write_text("# Docs\n")
        ran = lint("docs", "net.py")
        assert ran.status == 0
        assert "no Python files in docs" in ran.err
        assert len(ran.targets) == 2

    def test_no_files_at_all_stand_for_the_working_folder(self, lint, net):
        ran = lint()
        assert ran.status == 0
        assert ran.targets == ["net.py:Net", "net.py:Other"]

    def test_an_empty_folder(self, lint):
        ran = lint()
        assert ran.status == 0
        assert "no Python files in ." in ran.err
        assert ran.report["summary"]["files"] == 0

    def test_a_file_that_may_not_be_read(self, lint, folder, net):
        locked = folder / "locked.py"
        locked.write_text(NET)
        locked.chmod(0)
        if os.access(locked, os.R_OK):
            pytest.skip("this user may read everything")
        ran = lint("locked.py", "net.py")
        assert ran.status == 1
        assert ran.codes == ["TSG002"]
        assert len(ran.targets) == 2

    def test_a_link_to_nowhere(self, lint, folder, net):
        (folder / "gone.py").symlink_to("nowhere.py")
        assert lint(".").status == 0

    def test_a_circle_of_links(self, lint, folder, net):
        (folder / "loop").symlink_to(folder, target_is_directory=True)
        assert len(lint(".").targets) == 2

    def test_a_link_to_itself(self, lint, folder, net):
        (folder / "loop.py").symlink_to("loop.py")
        for arguments in ([], ["loop.py", "net.py"]):
            ran = lint(*arguments)
            assert (ran.status, ran.codes, len(ran.targets)) == (1, ["TSG002"], 2)
            assert "links" in ran.report["findings"][0]["message"]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_a_named_pipe_is_not_waited_for(self, lint, folder, net):
        os.mkfifo(folder / "pipe.py")
        for arguments in ([], ["pipe.py", "net.py"], ["--fix"], ["--add-ignore"]):
            ran = lint(*arguments)
            assert ran.status == 1
        (found,) = lint().report["findings"]
        assert found["message"] == "this file cannot be read: it is a named pipe"

    def test_a_device_and_a_socket(self, lint, folder, net, monkeypatch):
        import socket

        (folder / "zero.py").symlink_to(os.devnull)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("ear.py")
            ran = lint()
        told = [finding["message"] for finding in ran.report["findings"]]
        assert told == [f"this file cannot be read: it is a {kind}" for kind in ("socket", "device")]
        assert len(ran.targets) == 2

    def test_a_pipe_that_is_imported(self, lint, folder, net):
        os.mkfifo(folder / "pipe.py")
        net.write_text(f"import pipe\n{NET}")
        assert len(lint("net.py").targets) == 2

    def test_a_name_that_is_longer_than_names_may_be(self, lint, net):
        ran = lint("x" * 5000, "net.py")
        assert ran.status == 2
        assert len(ran.targets) == 2


class TestTexts:
    """Each file is judged beside a good one, which must come through."""

    @pytest.fixture
    def judge(self, lint, folder, net):
        def judge(content: bytes):
            (folder / "bad.py").write_bytes(content)
            ran = lint(".")
            assert {"net.py:Net", "net.py:Other"} <= set(ran.targets)
            return ran

        return judge

    def found(self, ran):
        return [(f["code"], f["line"], f["column"]) for f in ran.report["findings"]]

    def test_a_syntax_error(self, judge):
        ran = judge(b"import torch\n\ndef f(x:\n    return x\n")
        assert ran.status == 1
        assert [(code, line) for code, line, _ in self.found(ran)] == [("TSG001", 3)]

    def test_not_utf8(self, judge):
        ran = judge(b"x = 1\n# caf\xe9\n")
        assert ran.status == 1
        assert self.found(ran) == [("TSG002", 2, 1)]

    def test_an_unknown_encoding(self, judge):
        assert judge(b"# -*- coding: klingon -*-\nx = 1\n").codes == ["TSG002"]

    def test_a_declared_encoding(self, judge):
        assert judge(b"# -*- coding: latin-1 -*-\n# caf\xe9\n").codes == []

    def test_a_byte_order_mark(self, judge):
        ran = judge(b"\xef\xbb\xbf" + NET.encode())
        assert ran.status == 0
        assert "bad.py:Net" in ran.targets

    @pytest.mark.parametrize("end", [b"\r\n", b"\r"])
    def test_other_line_ends(self, judge, end):
        stale = b"x = 1  # tsguard: ignore[TSG999]\n"
        ran = judge((NET.encode() + stale).replace(b"\n", end))
        assert "bad.py:Net" in ran.targets
        assert self.found(ran) == [("TSG003", NET.count("\n") + 1, 8)]

    def test_a_null_byte(self, judge):
        ran = judge(b"x = 1\n\0y = 2\n")
        assert ran.status == 1
        assert self.found(ran) == [("TSG001", 2, 1)]
        assert "null byte" in ran.report["findings"][0]["message"]

    def test_form_feeds(self, judge):
        ran = judge(b"\x0c" + NET.encode().replace(b"\n\n\n", b"\n\x0c\n"))
        assert ran.status == 0
        assert "bad.py:Net" in ran.targets

    def test_tabs(self, judge):
        ran = judge(NET.replace("    ", "\t").encode() + b"if x:\n\ty = 1  # tsguard: ignore[TSG999]\n")
        assert self.found(ran) == [("TSG003", NET.count("\n") + 2, 9)]

    def test_mixed_tabs_and_spaces(self, judge):
        assert judge(b"if x:\n\ty = 1\n        z = 2\n").codes == ["TSG001"]

    def test_an_empty_file(self, judge):
        assert judge(b"").status == 0

    def test_wide_characters_are_counted_as_one_column(self, judge):
        ran = judge('s = "変数𝔘é"  # tsguard: ignore[TSG999]\n'.encode())
        assert self.found(ran) == [("TSG003", 1, 13)]

    def test_nesting_deeper_than_python_parses(self, judge):
        ran = judge(b"x = " + b"(" * 5000 + b")" * 5000 + b"\n")
        assert ran.codes == ["TSG001"]

    def test_deep_nesting_that_python_parses(self, judge):
        assert "TSG004" not in judge(b"x = " + b"-" * 3000 + b"1\n").codes

    def test_megabytes_of_generated_code(self, judge):
        table = b"TABLE = [\n" + b"    1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0,\n" * 120_000 + b"]\n"
        assert len(table) > 5_000_000
        ran = judge(table + NET.encode())
        assert ran.status == 0
        assert "bad.py:Net" in ran.targets

    def test_megabytes_on_one_line_are_not_printed(self, tsguard, folder):
        (folder / "long.py").write_text(f'x = "{"a" * 5_000_000}"  # tsguard: ignore[TSG999]\n')
        ran = tsguard("lint", "long.py")
        assert ran.status == 1
        assert len(ran.out) < 2000


class TestImports:
    def test_a_circle(self, lint, folder):
        (folder / "a.py").write_text("from b import B\n\n\nclass A(B):\n    pass\n")
        (folder / "b.py").write_text(
            "import torch\nfrom a import A\n\n\nclass B(torch.nn.Module):\n    pass\n\n\nclass C(A):\n    pass\n"
        )
        ran = lint(".")
        assert ran.status == 0
        assert ran.targets == ["a.py:A", "b.py:B", "b.py:C"]

    def test_a_module_that_imports_itself(self, lint, folder):
        (folder / "me.py").write_text("from me import *\nfrom me import Me\n\n\nclass Me(Me):\n    pass\n")
        assert lint("me.py").status == 0

    def test_classes_that_derive_from_each_other(self, lint, folder):
        (folder / "knot.py").write_text("class A(B):\n    pass\n\n\nclass B(A):\n    pass\n")
        assert lint("knot.py").status == 0

    def test_a_package_that_refuses_to_be_imported(self, lint, folder):
        (folder / "net.py").write_text(
            "import torch\nimport helper\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
            "        return helper.act(x)\n"
        )
        (folder / "helper.py").write_text("def act(x):\n    return choice(x)\n\n\nchoice = make(1 / 0)\n")
        assert "TSG004" not in lint("net.py").codes

    def test_an_import_that_leads_to_a_broken_file(self, lint, folder):
        (folder / "bad.py").write_text("class Base(:\n")
        (folder / "net.py").write_text("from bad import Base\n\n\nclass Net(Base):\n    pass\n")
        ran = lint("net.py")
        assert ran.status == 0
        assert ran.codes == []


class TestNothingIsRun:
    def run(self, folder, *arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "tsguard", "lint", "--output-format", "json", *arguments],
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )

    def test_torch_is_never_imported(self, folder):
        poison = folder / "poison" / "torch"
        poison.mkdir(parents=True)
        (poison / "__init__.py").write_text(POISON)
        (folder / "net.py").write_text(NET)
        checked = subprocess.run(
            [sys.executable, "-c", "import torch"], env={**os.environ, "PYTHONPATH": str(poison.parent)}
        )
        assert checked.returncode != 0, "the poison does not work"
        ran = self.run(folder, "net.py", "net.py:Net(3)", PYTHONPATH=str(poison.parent))
        assert ran.returncode == 0, ran.stderr
        assert len(json.loads(ran.stdout)["targets"]) == 3

    def test_not_a_line_of_the_linted_files_is_run(self, folder):
        (folder / "helper.py").write_text("open('helper was run', 'w').close()\n\n\nclass Base:\n    pass\n")
        (folder / "net.py").write_text(
            textwrap.dedent(
                """\
                import torch
                from helper import Base

                open("net was run", "w").close()


                class Net(Base, torch.nn.Module):
                    open("class was run", "w").close()

                    def forward(self, x, _=open("default was run", "w")):
                        return x
                """
            )
        )
        (folder / "conftest.py").write_text("open('conftest was run', 'w').close()\n")
        (folder / "setup.py").write_text("open('setup was run', 'w').close()\n")
        ran = self.run(folder, ".", "net.py:Net(open('argument was run', 'w'))")
        assert json.loads(ran.stdout)["targets"][0]["target"] == "net.py:Net"
        assert not [path.name for path in folder.iterdir() if "was run" in path.name]


class TestOurOwnBugs:
    """Faults put into the analysis, because a known one would be repaired instead of kept."""

    @pytest.mark.parametrize("fault", [KeyError("width"), RecursionError(), MemoryError()])
    def test_a_bug_in_one_target_is_a_finding_and_the_rest_is_done(self, lint, net, monkeypatch, fault):
        import tsguard.judges as judges

        real = judges.judge

        def faulty(project, target, *rest):
            if target.qualname == "Net":
                raise fault
            return real(project, target, *rest)

        monkeypatch.setattr(judges, "judge", faulty)
        ran = lint("--no-cache", "net.py")
        assert ran.status == 1
        (finding,) = (f for f in ran.report["findings"] if f["code"] == "TSG004")
        assert type(fault).__name__ in finding["message"]
        assert "\n" not in finding["message"]
        assert "report" in finding["help"]
        assert (finding["line"], finding["targets"]) == (5, ["net.py:Net"])
        net_report, other = ran.report["targets"]
        assert net_report["script"]["verdict"] == "unknown"
        assert other["target"] == "net.py:Other"

    def test_a_bug_in_finding_targets_is_a_finding_of_that_file(self, lint, folder, net, monkeypatch):
        import tsguard.project.targets as targets

        real = targets.targets_of

        def faulty(project, module):
            if module.file.path == "bad.py":
                raise AssertionError("boom")
            return real(project, module)

        monkeypatch.setattr(targets, "targets_of", faulty)
        (folder / "bad.py").write_text(NET)
        ran = lint("--no-cache", ".")
        assert ran.codes == ["TSG004"]
        assert ran.targets == ["net.py:Net", "net.py:Other"]


class TestArguments:
    def test_an_empty_name_is_not_the_working_folder(self, lint, net):
        ran = lint("", "net.py")
        assert ran.status == 2
        assert "an empty name is no file or folder: pass . for the working folder" in ran.err
        assert ran.targets == ["net.py:Net", "net.py:Other"]

    @pytest.mark.parametrize(
        ("flags", "says"),
        [
            (("-q", "-v"), "--quiet cannot be combined with --verbose"),
            (("--isolated", "--config", "a.toml"), "--isolated ignores all configuration files"),
            (("-o", "gone/report.json"), "there is no folder 'gone'"),
        ],
    )
    def test_what_contradicts_or_could_not_be_kept(self, tsguard, net, flags, says):
        ran = tsguard("lint", "net.py", *flags)
        assert (ran.status, ran.out) == (2, "")
        assert says in ran.err

    def test_no_command_shows_the_commands(self, tsguard, net):
        ran = tsguard()
        assert ran.status == 2
        assert ran.err.startswith("Usage: tsguard")

    @pytest.mark.skipif(os.name != "posix", reason="a shell closes streams")
    @pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
    def test_streams_that_the_caller_has_closed(self, net, closed):
        command = f"'{sys.executable}' -m tsguard lint --isolated net.py {closed}"
        ran = subprocess.run(command, shell=True, cwd=net.parent, capture_output=True, text=True)
        assert "Traceback" not in ran.stderr
        assert ran.returncode == 0
