"""``linkarms serve``: campaigns over HTTP, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linkarms.cli._campaign_options import StorageUrl
from linkarms.cli._options import Quiet

__all__ = ["serve"]

Host = Annotated[str, typer.Option(help="The address to listen on. Off loopback tokens and TLS are needed.")]
Port = Annotated[int, typer.Option(help="The port; 0 takes a free one.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Lines `read TOKEN` and `write TOKEN`.", show_default=False),
]
Cert = Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate in PEM.", show_default=False)]
KeyFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Its key in PEM.", show_default=False)]
Proxy = Annotated[bool, typer.Option("--behind-proxy", help="A proxy in front speaks TLS with the world.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A name under which the service is reached; may be repeated."),
]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    storage: StorageUrl = None,
    token_file: TokenFile = None,
    tls_cert: Cert = None,
    tls_key: KeyFile = None,
    behind_proxy: Proxy = False,
    allow_host: AllowHost = None,
    quiet: Quiet = False,
) -> None:
    """Serve campaigns over HTTP, with a page to watch and feed them. Ctrl-C, or SIGTERM, stops it gracefully.

    Examples:

    - linkarms serve

    - linkarms serve --storage runs.db --port 8765

    - linkarms serve --host 0.0.0.0 --allow-host lab.example --token-file tokens --tls-cert lab.pem --tls-key lab.key
    """
    from linkarms.cli._campaign_report import place
    from linkarms.server import serve as run

    run(
        host=host,
        port=port,
        token_file=token_file,
        tls_cert=tls_cert,
        tls_key=tls_key,
        behind_proxy=behind_proxy,
        allow_hosts=allow_host or (),
        quiet=quiet,
        **place(storage),
    )
