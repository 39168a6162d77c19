"""The server: what a client asks, answered from the readings of its documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from tsguard.editors.actions import ACCEPT, KINDS, Offer
from tsguard.editors.diagnostics import diagnostics
from tsguard.editors.hover import hover
from tsguard.editors.lenses import SHOW, lenses, reasons
from tsguard.editors.places import Places, uri
from tsguard.editors.reading import Readers, Reading
from tsguard.version import __version__

T = TypeVar("T")
P = ParamSpec("P")

# Who types is not asked about every key.
_PAUSE = 0.05


class Server(LanguageServer):
    """The language server.  All judging is done by one thread, so that the newest text is judged next.

    ``status`` is what the process is to exit with: 1 where the client says exit before shutdown.
    """

    def __init__(self) -> None:
        # Clients split lines elsewhere than pygls does, which goes wrong for parts of a text.
        super().__init__("tsguard", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._readers = Readers()
        self._thread = ThreadPoolExecutor(1, "judge")
        self._readings: dict[str, tuple[tuple[object, int], Reading]] = {}
        # What the client has opened, by the address that it gave, each time anew: pygls knows it by another.
        self._open: dict[str, object] = {}
        self.shut_down = False
        self.status = 0

    # -- readings -----------------------------------------------------------------------------

    async def reading(self, uri: str) -> Reading | None:
        """A document as it is now; None where it is no file."""
        path = to_fs_path(uri)
        if path is None or not uri.startswith("file:"):
            return None
        while True:
            state, text = self._state(uri), self.workspace.get_text_document(uri).source
            known = self._readings.get(uri)
            if known is not None and known[0] == state:
                return known[1]
            reading = await self._judging(Readers.read, Path(path), text)
            self._complain()
            if state is None or uri not in self._open:
                return reading
            self._readings[uri] = (state, reading)

    async def _judging(
        self, work: Callable[Concatenate[Readers, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What a method of the readers gives, called by their thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, self._readers, *args, **kwargs))

    async def changed(self, uri: str) -> None:
        """Judge a document and publish what is found, unless it has changed again by then."""
        await asyncio.sleep(_PAUSE)
        state, known = self._state(uri), self._readings.get(uri)
        if state is None or (known is not None and known[0] == state):
            return
        await self.publish(uri)
        await self._judging(Readers.rest)

    async def publish(self, uri: str) -> None:
        """Send the diagnostics of a document to a client that does not ask for them."""
        reading, state = await self.reading(uri), self._state(uri)
        if reading is None or state is None or self._asks:
            return
        found = diagnostics(reading, self.places(reading))
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version=state[1]))

    async def disk_changed(self, paths: list[Path]) -> None:
        """Judge again what rests on files that have changed on disk."""
        configured = any(path.name in ("pyproject.toml", "tsguard.toml") for path in paths)
        if await self._judging(Readers.refresh, paths) or configured:
            await self.renew()

    async def renew(self) -> None:
        """Judge all open documents again, as far as anything has changed."""
        self._readings.clear()
        if self._asks:
            self.workspace_diagnostic_refresh(None)
        for each in list(self._open):
            await self.publish(each)

    def opened(self, uri: str) -> None:
        """Take note of a document: its versions count anew."""
        self._open[uri] = object()

    def closed(self, uri: str) -> None:
        """Forget a document; a client that is sent diagnostics is told that there are none."""
        self._open.pop(uri, None)
        self._readings.pop(uri, None)
        if not self._asks:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def places(self, reading: Reading) -> Places:
        return Places(self.workspace.position_codec, reading.sources)

    def _state(self, uri: str) -> tuple[object, int] | None:
        """Which text of a document there is now; None where it is not open."""
        if uri not in self._open:
            return None
        return self._open[uri], self.workspace.get_text_document(uri).version or 0

    @property
    def _asks(self) -> bool:
        """Whether the client asks for diagnostics by itself."""
        about = self.client_capabilities.text_document
        return about is not None and about.diagnostic is not None

    def _complain(self) -> None:
        while self._readers.complaints:
            text = f"tsguard: {self._readers.complaints.pop()}"
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, text))

    # -- the whole project --------------------------------------------------------------------

    async def all_readings(self) -> list[Reading]:
        """Every file below the client's folders, judged one by one so that open documents come in between."""
        texts = {
            Path(path): self.workspace.get_text_document(address).source
            for address in self._open
            if (path := to_fs_path(address)) is not None
        }
        found: list[Reading] = []
        for folder in self._folders():
            planned, settings = await self._judging(Readers.folder, folder, texts)
            inspections = [await self._judging(Readers.inspect, job, settings) for job in planned.jobs]
            found += await self._judging(Readers.assembled, planned, inspections, settings)
        self._complain()
        return found

    def _folders(self) -> list[Path]:
        roots = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        return [Path(path) for root in roots if root and (path := to_fs_path(root)) is not None]

    # -- what is asked --------------------------------------------------------------------------

    async def hover_at(self, uri: str, line: int) -> str:
        """The text of a hover on a line, counted from 1."""
        reading = await self.reading(uri)
        if reading is None:
            return ""
        return await self._judging(_hover, reading, line)

    async def accept(self, path: str, finding: int) -> None:
        """Add a finding to the baseline."""
        reading = await self.reading(uri(path))
        if reading is not None:
            await self._judging(Readers.accept, reading, finding)
            await self.renew()


def _hover(readers: Readers, reading: Reading, line: int) -> str:
    return hover(reading, readers.judge(reading.settings), line)


def make_server() -> Server:
    """A server with all that it can do."""
    server = Server()
    _ending(server)
    _documents(server)
    _questions(server)
    _commands(server)
    return server


def _ending(server: Server) -> None:
    @server.feature(lsp.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.shut_down = True

    @server.feature(lsp.EXIT)
    def exit_(_: None) -> None:
        # What pygls itself exits with is lost in the task that it exits from.
        server.status = 0 if server.shut_down else 1


def _documents(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document.uri)
        await server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        await server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        await _on_disk([params.text_document.uri])

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        await _on_disk([change.uri for change in params.changes])

    async def _on_disk(uris: list[str]) -> None:
        await server.disk_changed([Path(path) for each in uris if (path := to_fs_path(each)) is not None])

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)


def _questions(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, lsp.DiagnosticOptions(True, True, "tsguard"))
    async def diagnostic(params: lsp.DocumentDiagnosticParams) -> lsp.RelatedFullDocumentDiagnosticReport:
        reading = await server.reading(params.text_document.uri)
        found = diagnostics(reading, server.places(reading)) if reading is not None else []
        return lsp.RelatedFullDocumentDiagnosticReport(found)

    @server.feature(lsp.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
        readings = await server.all_readings()
        return lsp.WorkspaceDiagnosticReport(
            [
                lsp.WorkspaceFullDocumentDiagnosticReport(
                    uri(str(reading.path)), diagnostics(reading, server.places(reading))
                )
                for reading in readings
            ]
        )

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(list(KINDS)))
    async def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        reading = await server.reading(params.text_document.uri)
        if reading is None:
            return []
        offer = Offer(reading, server.places(reading), params.context.diagnostics)
        return offer.actions(params.range, params.context.only)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        reading = await server.reading(params.text_document.uri)
        return lenses(reading, server.places(reading)) if reading is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hovering(params: lsp.HoverParams) -> lsp.Hover | None:
        text = await server.hover_at(params.text_document.uri, params.position.line + 1)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None


def _commands(server: Server) -> None:
    @server.command(SHOW)
    async def show(path: str, qualname: str) -> None:
        reading = await server.reading(uri(path))
        if reading is not None:
            text = reasons(reading, qualname)
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))

    @server.command(ACCEPT)
    async def accept(path: str, finding: int) -> None:
        await server.accept(path, finding)
