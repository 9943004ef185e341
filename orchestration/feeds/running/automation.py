"""``automation`` of a feed file: which of the feed's schedules and its sensor are on from the start.

Put here what is checked of it. Not here: the schedules and sensors (``orchestration/automation``).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from transforms.feed.running import Automation

_Switch = Literal["on", "off"]


class DeclaredAutomation(BaseModel):
    """A feed file's ``automation``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    schedule: _Switch = "off"
    """The schedule that runs a window once it has ended."""
    sensor: _Switch = "off"
    """The sensor that looks for new drops."""
    compaction: _Switch = "off"
    """The schedule of compaction."""


def automation_from(declared: DeclaredAutomation) -> Automation:
    """Which are on."""
    return Automation(
        schedule=declared.schedule == "on",
        sensor=declared.sensor == "on",
        compaction=declared.compaction == "on",
    )
