"""``tsguard rules``, ``tsguard explain`` and what the bare command says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tsguard import __version__, rules


def test_rules_lists_every_rule(tsguard):
    lines = tsguard("rules").out.splitlines()
    assert [line.split()[0] for line in lines] == list(rules.pages())
    assert "syntax-error" in lines[0]


def test_rules_as_json(tsguard):
    listed = json.loads(tsguard("rules", "--output-format", "json").out)
    assert [rule["code"] for rule in listed] == list(rules.pages())
    assert listed[0]["summary"] == "The file cannot be parsed as Python."


@pytest.mark.parametrize("key", ["TSG001", "tsg001", "syntax-error"])
def test_explain_shows_the_page(tsguard, key):
    ran = tsguard("explain", key)
    assert ran.status == 0
    assert ran.out.startswith("# TSG001 syntax-error\n")
    assert "## Why" in ran.out


@pytest.mark.parametrize(
    ("key", "says"),
    [("TSG102", "script · error · safe fix ·"), ("TSG186", "unsafe fix"), ("TSG001", "tool · error · torch")],
)
def test_explain_says_whether_there_is_a_fix(tsguard, key, says):
    assert says in tsguard("explain", key).out


@pytest.mark.parametrize(("key", "near"), [("TSG0011", "TSG001"), ("sintax-error", "syntax-error")])
def test_an_unknown_rule_names_the_nearest(tsguard, key, near):
    ran = tsguard("explain", key)
    assert ran.status == 2
    assert f"did you mean '{near}'?" in ran.err
    assert ran.out == ""


def test_a_code_of_another_family_is_not_near(tsguard):
    ran = tsguard("explain", "TSG899")
    assert ran.status == 2
    assert "did you mean" not in ran.err
    assert "`tsguard rules` lists them" in ran.err


def test_version(tsguard):
    ran = tsguard("--version")
    assert (ran.status, ran.out) == (0, f"tsguard {__version__}\n")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_the_commands(tsguard, option):
    ran = tsguard(option)
    assert ran.status == 0
    assert all(command in ran.out for command in ("check", "lint", "explain", "rules"))


@pytest.mark.parametrize(
    ("word", "says"), [("lnt", "did you mean 'lint'?"), ("zzzz", "the commands are check, lint")]
)
def test_an_unknown_command_is_wrong_usage(tsguard, word, says):
    ran = tsguard(word)
    assert ran.status == 2
    assert f"error: there is no command '{word}'; {says}" in ran.err


def test_an_unknown_option_names_the_nearest_and_where_to_look(tsguard):
    ran = tsguard("lint", "--quite", ".")
    assert ran.status == 2
    assert ran.err.startswith("error: No such option '--quite'")
    assert "'--quiet'" in ran.err
    assert "`tsguard lint --help`" in ran.err


def test_a_file_in_place_of_a_command_is_understood(tsguard, folder):
    (folder / "net.py").write_text("")
    ran = tsguard("net.py")
    assert ran.status == 2
    assert "did you mean `tsguard check net.py`?" in ran.err


def test_the_module_is_the_command(folder):
    ran = subprocess.run(
        [sys.executable, "-m", "tsguard", "--version"], capture_output=True, text=True, cwd=folder
    )
    assert ran.stdout == f"tsguard {__version__}\n"


def test_a_bug_in_the_command_itself_is_status_2(tsguard, monkeypatch):
    """A fault put into the command, because a known one would be repaired instead of kept."""
    import tsguard.cli.rules as command

    def faulty():
        raise AssertionError("boom")

    monkeypatch.setattr(command, "all_rules", faulty)
    ran = tsguard("rules")
    assert ran.status == 2
    assert "please report it" in ran.err
