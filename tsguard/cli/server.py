"""``tsguard server``: the language server."""

from __future__ import annotations

import click

from tsguard.cli.options import Unusable


@click.command("server", short_help="Start the language server for editors.")
@click.option(
    "--stdio", is_flag=True, help="Communicate over standard input and output, which is the default."
)
def command(stdio: bool) -> int:
    """Start the language server, which communicates over standard input and output.

    Editors start it; it requires `pip install 'tsguard[server]'`.
    """
    try:
        from tsguard.editors.server import make_server
    except ModuleNotFoundError as error:
        raise Unusable(f"the language server needs {error.name}: pip install 'tsguard[server]'") from None
    server = make_server()
    server.start_io()
    return server.status
