"""``weir``: the command line, a thin way into the same Dagster assets that the UI shows.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 a check or a step failed,
2 the command or a feed file is wrong.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import Final

import click

COMMANDS: Final = {
    "onboard": "Write a feed file for drops, from a sample of them.",
    "feeds": "Check and list the feed files.",
    "run": "Bring what is new in the landing to bronze, silver and gold.",
    "query": "Query the tables with Spark SQL.",
    "compact": "Fold old history into base rows, and compact small files.",
    "cut": "Say up to where in the source all tables are whole.",
    "explain": "Say why a row is as it is: the events of its key, in order.",
    "verify": "Prove gold: make it again from bronze, and compare every row.",
    "reconcile": "Compare gold with the live source, row by row.",
    "register": "Put gold's tables into Hive's Metastore, Unity Catalog or Glue.",
    "status": "Say how each feed stands: windows, events, rows, what waits.",
    "dbt-sources": "Print a sources.yml for dbt: gold's tables and freshness.",
    "data-docs": "Ask tables as they stand, and make Data Docs of all results.",
    "report": "Make a feed's report: a page with plots.",
    "ui": "Open Dagster for your feeds, with the history of their runs.",
    "rebuild": "Make all of a feed's silver and gold again from bronze.",
    "demo": "Lay out sample drops, bring them to gold, and say what to try.",
    "erase": "Erase a person: a key's rows, in every table, for good.",
    "epoch": "Declare or list where a source's positions start again.",
    "release": "List the deletes that wait, or let them act.",
    "notify": "Try the addresses that are told of failures.",
    "quarantine": "List, show, repair or dismiss quarantined records.",
}
"""What each command is for. A command is ``<name>_command`` in the module of its name."""


def command_of(name: str) -> click.Command:
    """The command of this name; its module, with all that it works with, is imported for it."""
    plain = name.replace("-", "_")
    command = getattr(import_module(f"orchestration.cli.{plain}"), f"{plain}_command")
    assert isinstance(command, click.Command)
    # What is imported stays: the collector would look through it again and again while the command reads much.
    gc.freeze()
    return command


class Commands(click.Group):
    """Lists all commands at once, and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the alphabet."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, if there is one."""
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="weir")
def cli() -> None:
    """Change data in, tables you can trust out: from the landing to bronze, silver and gold.

    Start with `weir demo`, which brings sample data to gold. For data of your own, `weir onboard LANDING` writes a feed
    file; then call `weir run` and `weir query`.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error that is made for people is printed without a stack."""
    # Imported late, so that --help answers at once.
    from orchestration.console import complain, show_stack
    from orchestration.spark.jars import JarsMissing
    from orchestration.spark.java import JavaMissing
    from transforms.errors import WeirError

    try:
        cli(args=arguments, prog_name="weir")
    except (WeirError, JavaMissing, JarsMissing) as fault:
        complain(fault)
        sys.exit(2)
    except Exception as fault:  # whatever it is, its text may be a source's
        show_stack(fault)
        sys.exit(1)


if __name__ == "__main__":
    main()
