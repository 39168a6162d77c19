"""The language server, spoken to by a client over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, mask=None):
        if mask is not None:
            x = x * mask
        n = x.shape[0]
        return x + n


class Other(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()
"""
FIXED = NET.replace("mask=None", "mask: torch.Tensor | None = None")
CAPABILITIES = lsp.ClientCapabilities(
    general=lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind.Utf16])
)
ASKING = lsp.ClientCapabilities(
    text_document=lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities()),
    workspace=lsp.WorkspaceClientCapabilities(
        diagnostics=lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=False)
    ),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.tsguard]\nbaseline = "accepted.json"\n')
    (tmp_path / "accepted.json").write_text('{"version": 1, "findings": []}')
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


async def initialized(client: LanguageClient, folder: Path, capabilities: lsp.ClientCapabilities) -> None:
    await client.initialize_session(lsp.InitializeParams(capabilities=capabilities, root_uri=folder.as_uri()))


SERVER = ClientServerConfig(server_command=[sys.executable, "-m", "tsguard", "server"])


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, folder: Path):
    await initialized(lsp_client, folder, CAPABILITIES)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def asking(lsp_client: LanguageClient, folder: Path):
    await initialized(lsp_client, folder, ASKING)
    yield
    await lsp_client.shutdown_session()


def opened(client: LanguageClient, file: Path) -> str:
    uri = file.as_uri()
    item = lsp.TextDocumentItem(uri, "python", 1, file.read_text())
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    return uri


def changed(client: LanguageClient, uri: str, text: str, version: int) -> None:
    document = lsp.VersionedTextDocumentIdentifier(version, uri)
    change = lsp.TextDocumentContentChangeWholeDocument(text)
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))


async def published(client: LanguageClient, uri: str) -> list[lsp.Diagnostic]:
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


async def actions(
    client: LanguageClient, uri: str, range: lsp.Range, only: list[str] | None = None
) -> dict[str, lsp.CodeAction]:
    context = lsp.CodeActionContext(client.diagnostics.get(uri, []), only)
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), range, context)
    return {action.title: action for action in await client.text_document_code_action_async(params) or []}


def codes(found: list[lsp.Diagnostic]) -> list[str]:
    return sorted(str(diagnostic.code) for diagnostic in found)


@pytest.mark.asyncio
async def test_findings_come_and_go_with_what_is_typed(client, folder):
    uri = opened(client, folder / "net.py")
    found = await published(client, uri)
    assert "TSG185" in codes(found)
    missing = next(d for d in found if d.code == "TSG185")
    assert missing.severity == lsp.DiagnosticSeverity.Error
    assert (missing.range.start.line, missing.range.start.character) == (7, 16)
    assert [info.message for info in missing.related_information] == ["compiled for Net"]
    changed(client, uri, FIXED, 2)
    assert "TSG185" not in codes(await published(client, uri))


@pytest.mark.asyncio
async def test_a_syntax_error_is_told_and_then_forgotten(client, folder):
    uri = opened(client, folder / "net.py")
    before = await published(client, uri)
    changed(client, uri, f"{NET}class (", 2)
    assert codes(await published(client, uri)) == ["TSG001"]
    changed(client, uri, NET, 3)
    assert await published(client, uri) == before


@pytest.mark.asyncio
async def test_columns_count_in_the_units_of_the_client(client, folder):
    (folder / "net.py").write_text(NET.replace("x = x * mask", 'print("\N{PILE OF POO}"); x = frob(x)'))
    found = await published(client, opened(client, folder / "net.py"))
    unknown = next(d for d in found if "frob" in d.message)
    assert unknown.range.start.character == len('            print("XX"); x = ')


@pytest.mark.asyncio
async def test_what_breaks_in_another_file_is_shown_at_the_class_that_leads_there(client, folder):
    (folder / "helper.py").write_text("def help(x, **kwargs):\n    return x\n")
    (folder / "user.py").write_text(
        "from torch import nn\n\nfrom helper import help\n\n\n"
        "class User(nn.Module):\n    def forward(self, x):\n        return help(x)\n"
    )
    found = await published(client, opened(client, folder / "user.py"))
    shown = next(d for d in found if d.code == "TSG103")
    assert shown.range.start.line == 5
    assert [info.location.uri for info in shown.related_information] == [(folder / "helper.py").as_uri()]


@pytest.mark.asyncio
async def test_a_file_that_is_saved_is_judged_anew_where_it_is_imported(client, folder):
    helper = folder / "helper.py"
    helper.write_text("def help(x, **kwargs):\n    return x\n")
    (folder / "user.py").write_text(
        "from torch import nn\n\nfrom helper import help\n\n\n"
        "class User(nn.Module):\n    def forward(self, x):\n        return help(x)\n"
    )
    uri = opened(client, folder / "user.py")
    assert "TSG103" in codes(await published(client, uri))
    helper.write_text("def help(x):\n    return x\n")
    change = lsp.FileEvent(helper.as_uri(), lsp.FileChangeType.Changed)
    client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
    assert codes(await published(client, uri)) == []


@pytest.mark.asyncio
async def test_a_fix_a_suppression_and_the_baseline_are_offered(client, folder):
    uri = opened(client, folder / "net.py")
    found = await published(client, uri)
    missing = next(d for d in found if d.code == "TSG185")
    offered = await actions(client, uri, missing.range)
    fix = next(a for title, a in offered.items() if "may change" in title and title.startswith("TSG185"))
    (edits,) = fix.edit.changes.values()
    assert any("Optional[torch.Tensor]" in edit.new_text or "Optional" in edit.new_text for edit in edits)
    ignore = offered["TSG185: ignore it on this line"]
    ((edit,),) = ignore.edit.changes.values()
    assert edit.new_text == "            x = x * mask  # tsguard: ignore[TSG185]"
    # lsprotocol reads an action that is a command alone as the command itself.
    assert "tsguard.addToBaseline" in str(offered["TSG185: add to the baseline"].command)
    params = lsp.ExecuteCommandParams("tsguard.addToBaseline", [str(folder / "net.py"), missing.data["id"]])
    await client.workspace_execute_command_async(params)
    assert "TSG185" not in codes(list(client.diagnostics[uri]))
    assert "TSG185" in (folder / "accepted.json").read_text()


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["with space.py", "ünicode.py", "a+b(1).py"])
async def test_a_file_of_any_name_is_judged_under_the_address_that_was_given(client, folder, name):
    (folder / name).write_text((folder / "net.py").read_text())
    uri = opened(client, folder / name)
    assert "%" in uri
    assert "TSG185" in codes(await published(client, uri))


@pytest.mark.asyncio
async def test_what_was_closed_meanwhile_is_not_told_of(client, folder):
    file = folder / "net.py"
    text = file.read_text()
    file.write_text("".join(text.replace("Net", f"Net{n}") for n in range(60)))
    uri = opened(client, file)
    client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))
    assert codes(await published(client, uri)) == []
    document = lsp.TextDocumentItem(uri, "python", 0, "x = 1\n")
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
    assert codes(await published(client, uri)) == []


@pytest.mark.asyncio
async def test_a_form_feed_above_is_no_line(client, folder):
    file = folder / "net.py"
    file.write_text(file.read_text().replace("\n\nclass", "\n\x0c\n# kept\nclass", 1))
    uri = opened(client, file)
    missing = next(d for d in await published(client, uri) if d.code == "TSG185")
    offered = await actions(client, uri, missing.range)
    ((edit,),) = offered["TSG185: ignore it on this line"].edit.changes.values()
    assert edit.new_text == "            x = x * mask  # tsguard: ignore[TSG185]"


@pytest.mark.asyncio
async def test_all_safe_fixes_are_one_action(client, folder):
    file = folder / "net.py"
    file.write_text(
        "import torch\n\n\n@torch.jit.script\ndef f(x):\n    return x  # tsguard: ignore[TSG101]\n"
    )
    uri = opened(client, file)
    await published(client, uri)
    everything = lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0))
    ((title, action),) = (await actions(client, uri, everything, ["source.fixAll"])).items()
    assert title == "tsguard: make all 1 safe fixes"
    ((edit,),) = action.edit.changes.values()
    assert edit.new_text == file.read_text().replace("  # tsguard: ignore[TSG101]", "")


@pytest.mark.asyncio
async def test_a_lens_tells_the_verdicts_of_each_module(client, folder):
    uri = opened(client, folder / "net.py")
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri)))
    told = {lens.range.start.line: lens.command.title for lens in lenses}
    assert set(told) == {4, 12}
    assert told[12] == "script: ok | trace: safe | mode: independent"
    command = next(lens.command for lens in lenses if lens.range.start.line == 4)
    await client.workspace_execute_command_async(lsp.ExecuteCommandParams(command.command, command.arguments))
    assert "TSG185" in client.messages[-1].message


@pytest.mark.asyncio
async def test_a_hover_tells_types_and_what_a_trace_keeps(client, folder):
    uri = opened(client, folder / "net.py")

    async def hovered(line: int) -> str:
        position = lsp.Position(line, 8)
        answer = await client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), position)
        )
        return answer.contents.value if answer is not None else ""

    assert "`n`: int" in await hovered(8)
    assert "`x`: followed" in await hovered(9)
    assert "TSG185" in await hovered(7)
    assert "Net" in await hovered(4)
    assert await hovered(2) == ""


@pytest.mark.asyncio
async def test_a_client_that_asks_gets_the_whole_project(asking, folder):
    (folder / "more.py").write_text(NET.replace("Net", "More"))
    uri = opened(asking, folder / "net.py")
    one = await asking.text_document_diagnostic_async(
        lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
    )
    assert "TSG185" in codes(one.items)
    every = await asking.workspace_diagnostic_async(lsp.WorkspaceDiagnosticParams([]))
    found = {report.uri: codes(report.items) for report in every.items}
    assert found[uri] == codes(one.items)
    assert "TSG185" in found[(folder / "more.py").as_uri()]
    await asyncio.sleep(0)
    assert uri not in asking.diagnostics


@pytest.mark.asyncio
async def test_a_configuration_that_cannot_be_used_is_said_once(client, folder):
    (folder / "pyproject.toml").write_text("[tool.tsguard]\nwibble = 1\n")
    uri = opened(client, folder / "net.py")
    assert "TSG185" in codes(await published(client, uri))
    changed(client, uri, FIXED, 2)
    await published(client, uri)
    assert [m.message for m in client.messages if "wibble" in m.message] == [client.messages[0].message]


@pytest.mark.parametrize(("told", "status"), [(["shutdown", "exit"], 0), (["exit"], 1)])
def test_exit_before_shutdown_is_a_failure(told, status):
    requests = [("initialize", {"processId": None, "rootUri": None, "capabilities": {}})]
    messages = b"".join(
        _message(number, *each) for number, each in enumerate([*requests, *((m, None) for m in told)])
    )
    ran = subprocess.run(
        [sys.executable, "-m", "tsguard", "server"], input=messages, capture_output=True, timeout=60
    )
    assert ran.returncode == status, ran.stderr


def _message(number: int, method: str, params: object) -> bytes:
    id_ = {} if method == "exit" else {"id": number}
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **id_}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
