"""The commands put together, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from linkarms._version import __version__
from linkarms.cli._audit import audit
from linkarms.cli._bench import bench
from linkarms.cli._bound import bound
from linkarms.cli._campaign import campaign
from linkarms.cli._cluster import cluster
from linkarms.cli._demo import demo
from linkarms.cli._plan import plan
from linkarms.cli._reproduce import reproduce
from linkarms.cli._serve import serve
from linkarms.cli._simulate import simulate
from linkarms.cli._wording import in_options, speaking_of
from linkarms.errors import LinkarmsError

__all__ = ["app", "run"]

app = typer.Typer(
    name="linkarms",
    help="""Group noisy sources into clusters with few samples and a promised error probability.

    The sources are called arms. Start with a demonstration, or with a file that has one row per sample:

    \b
      linkarms demo
      linkarms cluster FILE.csv --arm COL --value COL -k 2 --out plot.png
    """,
    add_completion=False,
    rich_markup_mode=None,
)

# Typer carries its own copy of click, or uses the installed one, depending on its version.
_UsageError: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")

#: What a shell calls a process that Ctrl-C has ended.
_INTERRUPTED = 130


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _command in (demo, cluster, plan, bound, simulate, audit, reproduce, bench, serve):
    app.command()(_command)
app.add_typer(campaign)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : list of str
        The words after ``linkarms``.

    Returns
    -------
    int
        0, 1 (it ran and the answer is no), or 2 (bad input; one line is on stderr).
    """
    command = typer.main.get_command(app)
    with speaking_of(command, arguments):
        return _run(command, arguments)


def _run(command: Any, arguments: list[str]) -> int:
    hushed = os.environ.get("LINKARMS_QUIET")
    try:
        code = command.main(arguments, prog_name="linkarms", standalone_mode=False)
        sys.stdout.flush()
    except LinkarmsError as error:
        return _fail(in_options(str(error)))
    except _UsageError as error:
        return _fail(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        os.environ.pop("LINKARMS_QUIET", None)
        if hushed is not None:
            os.environ["LINKARMS_QUIET"] = hushed
    if code == _INTERRUPTED:  # newer versions of typer return it, older ones raise
        _fail("interrupted")
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    print(f"linkarms: {' '.join(message.split())}", file=sys.stderr)
    return 2
