"""``freshness`` of a feed file: how long after its last run a feed's tables count as late.

Put here what is checked of it. Not here: Dagster's policy (``assets/window_asset``).
"""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict

from orchestration.feeds.misdeclared import Misdeclared
from orchestration.feeds.retention import length_from
from transforms.feed.running import Freshness


class DeclaredFreshness(BaseModel):
    """A feed file's ``freshness``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    fail: str
    """So long after their last run the tables are late: ``6h``."""
    warn: str | None = None
    """So long after it they are nearly late, as the UI shows."""


def freshness_from(
    declared: DeclaredFreshness | None, misdeclared: Misdeclared
) -> Freshness | None:
    """The two lengths of time.

    Raises:
        FeedMisdeclared: one of them is none, or the warning comes no earlier than the failure.
    """
    if declared is None:
        return None
    fail = _length("fail", declared.fail, misdeclared)
    warn = None if declared.warn is None else _length("warn", declared.warn, misdeclared)
    if warn is not None and warn >= fail:
        fault = f"{declared.warn!r} is no shorter than fail, {declared.fail}: a warning comes first"
        raise misdeclared("freshness.warn", fault)
    return Freshness(fail, warn)


def _length(key: str, text: str, misdeclared: Misdeclared) -> timedelta:
    length = length_from(text)
    if not length:
        raise misdeclared(f"freshness.{key}", f"{text!r} is no length of time: write 6h or 2d")
    return length
