"""The commands that tell others: ``weir notify``.

Put here the arguments and the help of a command that sends something. Not here: commands that answer whoever calls them
(``asking``).
"""

from __future__ import annotations

import sys

import click


@click.command("notify", short_help="Try the hooks that are told of failures.")
@click.option(
    "--test", "is_test", is_flag=True, required=True, help="Send a message that is a test."
)
def notify_command(is_test: bool) -> None:
    """Send a test message to the webhook and by mail, as the environment names them.

    The sensor weir_alerts sends a message where a run or a check has failed; docs/alerts.md has the settings.
    """
    from orchestration.cli import notify

    sys.exit(notify.notify())
