"""``automation`` of a feed file: which of the feed's schedules and its sensor are on from the start, and how it looks.

Put here what is checked of it. Not here: the schedules and sensors (``orchestration/automation``).
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from orchestration.feeds.misdeclared import Misdeclared
from transforms.feed.running import Automation

_Switch = Literal["on", "off"]

_LENGTH = re.compile(r"(\d{1,4})([sm])", re.ASCII)
_SECONDS = {"s": 1, "m": 60}

LEAST, MOST = 5, 3600
"""Seconds between two looks: a daemon looks no more often, and within an hour a window has ended."""


class DeclaredAutomation(BaseModel):
    """A feed file's ``automation``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    schedule: _Switch = "off"
    """The schedule that runs a window once it has ended."""
    sensor: _Switch = "off"
    """The sensor that looks for new drops."""
    compaction: _Switch = "off"
    """The schedule of compaction."""
    look_every: str = "30s"
    """So long lies between two looks of the sensor, from `5s` to `60m`."""


def automation_from(declared: DeclaredAutomation, misdeclared: Misdeclared) -> Automation:
    """Which are on, and how often the sensor looks.

    Raises:
        FeedMisdeclared: that is no length of time, or one that is too short or too long.
    """
    found = _LENGTH.fullmatch(declared.look_every)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not LEAST <= seconds <= MOST:
        fault = f"{declared.look_every!r} is no length of time from 5s to 60m"
        raise misdeclared("automation.look_every", fault)
    return Automation(
        schedule=declared.schedule == "on",
        sensor=declared.sensor == "on",
        compaction=declared.compaction == "on",
        look_every=seconds,
    )
