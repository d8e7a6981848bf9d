"""``linkarms serve``: campaigns over HTTP, and the page."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from linkarms.cli._campaign_options import StorageUrl
from linkarms.cli._options import Json, Quiet, Seed
from linkarms.errors import InvalidInput

__all__ = ["serve"]

Host = Annotated[
    str, typer.Option(help="The address to listen on. Any other than 127.0.0.1 needs tokens and TLS.")
]
Port = Annotated[int, typer.Option(help="The port; 0 takes a free one.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Lines `read TOKEN` and `write TOKEN`.", show_default=False),
]
Cert = Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate in PEM.", show_default=False)]
KeyFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Its key in PEM.", show_default=False)]
Proxy = Annotated[bool, typer.Option("--behind-proxy", help="A proxy in front of the service handles TLS.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A name under which the service is reached; may be repeated."),
]
Demo = Annotated[
    bool,
    typer.Option("--demo", help="Show a campaign with simulated samples, in a temporary database."),
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
    demo: Demo = False,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve campaigns over HTTP, with a page to watch them.

    On the page you can also enter samples and start campaigns. Ctrl-C, or SIGTERM, stops the service gracefully.

    With --json a line with the address is printed once it listens. The seed is that of the simulated samples of --demo.

    \b
    Examples:
      linkarms serve
      linkarms serve --demo
      linkarms serve --storage runs.db --port 8765
      linkarms serve --host 0.0.0.0 --allow-host lab.example --token-file tokens \\
          --tls-cert lab.pem --tls-key lab.key
    """
    from linkarms.cli._campaign_report import storage_argument
    from linkarms.server import serve as run
    from linkarms.server._demo import demo as simulated
    from linkarms.server._run import say_where

    if demo and storage is not None:
        raise InvalidInput(
            "--demo keeps its samples in a temporary database; leave out --storage and LINKARMS_STORAGE"
        )

    def started(url: str) -> None:
        if as_json:
            print(json.dumps({"url": url}), flush=True)
        elif not quiet:
            say_where(url)

    with simulated(seed) if demo else nullcontext() as temporary:
        run(
            host=host,
            port=port,
            token_file=token_file,
            tls_cert=tls_cert,
            tls_key=tls_key,
            behind_proxy=behind_proxy,
            allow_hosts=allow_host or (),
            started=started,
            **({"storage": temporary} if temporary is not None else storage_argument(storage)),
        )
