"""``weir``: the command line, a thin way into the same Dagster assets that the UI shows.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 a check or a step failed,
2 the command or a feed file is wrong.
"""

from __future__ import annotations

import sys

import click

from orchestration.cli import arguments

COMMANDS: tuple[click.Command, ...] = (
    arguments.onboard_command,
    arguments.feeds_command,
    arguments.run_command,
    arguments.query_command,
    arguments.compact_command,
    arguments.explain_command,
    arguments.verify_command,
    arguments.status_command,
    arguments.dbt_sources_command,
    arguments.data_docs_command,
    arguments.report_command,
    arguments.ui_command,
    arguments.rebuild_command,
    arguments.demo_command,
    arguments.epoch_command,
    arguments.release_command,
    arguments.notify_command,
    arguments.quarantine_command,
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
