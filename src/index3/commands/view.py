"""`index3 view run.nc`: show a saved run in the browser, from this machine to itself alone."""

from __future__ import annotations

import http.server
import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from index3.commands.common import DebugOption, clean_errors
from index3.errors import ModelError

ADDRESS = "127.0.0.1"


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(view)


def view(
    file: Annotated[Path, typer.Argument(metavar="FILE.nc", help="A run saved by --save or Result.save.")],
    port: Annotated[int, typer.Option(help="Port on the loopback address; 0 for a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    debug: DebugOption = False,
) -> None:
    """Show a saved run as a page, served on the loopback address until Ctrl-C."""
    with clean_errors(debug):
        server = page_server(file, port)
        address = f"http://{ADDRESS}:{server.server_address[1]}/"
        typer.echo(f"{file} at {address} (Ctrl-C ends)")
        if browser:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            server.server_close()


def page_server(file: Path, port: int = 0) -> http.server.ThreadingHTTPServer:
    """A server of one page, not running yet."""
    from index3.results.html import page_text
    from index3.results.result import Result

    page = page_text(Result.load(file)).encode()
    try:
        return http.server.ThreadingHTTPServer((ADDRESS, port), partial(Page, page))
    except (OSError, OverflowError) as error:
        raise ModelError(f"port {port} cannot be used: {error}. Give another --port, or none for a free one.") from None


class Page(http.server.BaseHTTPRequestHandler):
    """Answers with one page and nothing else."""

    def __init__(self, page: bytes, *arguments: object) -> None:
        self.page = page
        super().__init__(*arguments)  # type: ignore[arg-type]  # request, address and server, as the server gives them

    def do_GET(self) -> None:
        """The page at /, nothing elsewhere."""
        found = self.path.partition("?")[0] in ("/", "/index.html")
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
        self.send_header("Content-Length", str(len(self.page) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(self.page)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing of requests."""
