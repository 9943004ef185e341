"""``weir notify``: a message that says nothing is wrong, to try the hooks."""

from __future__ import annotations

import os
from uuid import uuid4

from orchestration.console import complain, put
from orchestration.observability.alerts import ALERTS, Message, hooks_of, link_of_run


def notify() -> int:
    """Send a message to every hook; returns the exit code: 1 where one does not take it, 2 where there is none."""
    hooks = hooks_of(os.environ)
    if not hooks:
        complain(f"nobody is told: {ALERTS} is not set")
        return 2
    key = f"test-{uuid4().hex[:12]}"
    message = Message(key=key, feed="no feed", link=link_of_run(os.environ, key))
    faults = 0
    for name, send in hooks.items():
        fault = send(message)
        put(f"{name}: {fault or 'sent'}")
        faults += fault is not None
    return 1 if faults else 0
