"""``rhetorica serve``: the service and the page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from rhetorica.cli.common import say
from rhetorica.service import Limits
from rhetorica.service import serve as run_service
from rhetorica.service.guard import is_loopback

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is for this machine only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 is any free one.")
    ] = 8000,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Requests worked on at a time; else up to 4 by cores.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a request may take.")
    ] = Limits().seconds,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Characters that a text may have.")
    ] = Limits().max_chars,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="Bytes that a request may have.")
    ] = Limits().max_bytes,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that the service may be called by; repeatable."),
    ] = None,
) -> None:
    """Serve the parsers over HTTP, with a page to look at trees and correct them.

    Open http://127.0.0.1:8000 in a browser; /docs there lists what programs can ask for. Stop it
    with Ctrl-C or SIGTERM: requests that are running are finished.

    Example: `rhetorica serve --port 8080`
    """
    limits = Limits(
        max_bytes=max_bytes,
        max_chars=max_chars,
        seconds=timeout,
        workers=workers or Limits().workers,
    )
    if not is_loopback(host):
        say(
            f"warning: {host} can be reached from other machines, and there are no passwords and "
            "no encryption: put a proxy with both in front of it"
        )
    run_service(
        host,
        port,
        limits=limits,
        hosts=tuple(allow_host or ()),
        started=lambda address: say(f"Rhetorica at {address} (Ctrl-C to stop)"),
    )
