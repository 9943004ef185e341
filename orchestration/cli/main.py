"""``weir``: the command line, a thin way into the same Dagster assets that the UI shows.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 a check or a step failed,
2 the command or a feed file is wrong.

Put here what holds for every command. Not here: the commands' arguments and help texts (``arguments``).
A new command is listed in ``COMMANDS``.
"""

from __future__ import annotations

import sys

import click

from orchestration.cli.arguments import (
    asking,
    deciding,
    feed_files,
    making,
    quarantining,
    telling,
)

COMMANDS: tuple[click.Command, ...] = (
    feed_files.onboard_command,
    feed_files.feeds_command,
    making.run_command,
    asking.query_command,
    making.compact_command,
    asking.explain_command,
    asking.verify_command,
    asking.status_command,
    asking.dbt_sources_command,
    making.data_docs_command,
    asking.report_command,
    asking.ui_command,
    making.rebuild_command,
    making.demo_command,
    deciding.epoch_command,
    deciding.release_command,
    telling.notify_command,
    quarantining.quarantine_command,
)


@click.group(
    commands=COMMANDS,
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
    from orchestration.spark.ivy import JarsMissing
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
