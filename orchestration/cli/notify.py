"""``weir notify``: sends a test message to each address that is told of failures."""

from __future__ import annotations

import os
import sys
from uuid import uuid4

import click

from orchestration.console import complain, put
from orchestration.observability.alert_messages import ALERTS, Message, hooks_of, link_of_run


@click.command("notify")
@click.option(
    "--test", "is_test", is_flag=True, required=True, help="Send a message that is a test."
)
def notify_command(is_test: bool) -> None:
    """Send a test message to each address in WEIR_ALERTS.

    The sensor weir_alerts sends a message where a run or a check has failed; docs/observability.md has the settings.
    """
    hooks = hooks_of(os.environ)
    if not hooks:
        complain(f"nobody is told: {ALERTS} is not set")
        sys.exit(2)
    key = f"test-{uuid4().hex[:12]}"
    message = Message(key=key, feed="no feed", link=link_of_run(os.environ, key))
    faults = 0
    for name, send in hooks.items():
        fault = send(message)
        put(f"{name}: {fault or 'sent'}")
        faults += fault is not None
    sys.exit(1 if faults else 0)
