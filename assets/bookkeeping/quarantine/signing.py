"""Who decides something about a record, when and why.

Put here what is asked of whoever decides. Not here: how it is kept (``decisions``).
"""

from __future__ import annotations

import getpass
from datetime import UTC, datetime

from assets.bookkeeping.decisions import Signature
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed


def signed(
    feed: Feed, reason: str | None, by: str | None, ask: str = "say why with --reason"
) -> Signature:
    """The signature of a decision that is made now; without a name it is the operating system's user.

    ``ask``: what to say to whoever gave no reason.

    Raises:
        DecisionRefused: no reason is given.
    """
    if not (reason or "").strip():
        raise DecisionRefused(feed.name, f"{ask}: whoever reads decisions later wants to know it")
    return Signature(datetime.now(UTC), by or _user(), reason)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return "unknown"
