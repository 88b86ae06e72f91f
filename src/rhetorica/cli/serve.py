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
        int | None,
        typer.Option(
            min=1,
            help="Worker processes, each with its own models; else 2 to 4 by cores. With 1, small "
            "requests wait for large ones.",
        ),
    ] = None,
    spare: Annotated[
        int,
        typer.Option(min=0, help="More processes that take the place of one that has ended."),
    ] = Limits().spare,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a request may take.")
    ] = Limits().seconds,
    memory: Annotated[
        int, typer.Option(min=0, help="MB that a worker process may have; 0 for any.")
    ] = Limits().memory,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Characters that a text may have.")
    ] = Limits().max_chars,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="Bytes that a request may have.")
    ] = Limits().max_bytes,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Connections at a time.")
    ] = Limits().connections,
    token: Annotated[
        str,
        typer.Option(
            envvar="RHETORICA_TOKEN",
            show_envvar=True,
            help="What clients must send as Authorization: Bearer TOKEN; the page asks for it. "
            "Other users of this machine see options, not variables.",
        ),
    ] = "",
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
        memory=memory,
        connections=max_connections,
        workers=workers or Limits().workers,
        spare=spare,
    )
    if not is_loopback(host):
        who = "whoever listens on the way can read texts and token" if token else "anybody can ask"
        say(
            f"warning: {host} can be reached from other machines, and there is no encryption: "
            f"{who}; put a proxy in front of it that encrypts and knows its users"
        )
    run_service(
        host,
        port,
        limits=limits,
        hosts=tuple(allow_host or ()),
        token=token,
        started=lambda address: say(f"Rhetorica at {address} (Ctrl-C to stop)"),
    )
