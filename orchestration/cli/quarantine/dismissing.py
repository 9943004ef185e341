"""``weir quarantine dismiss``: records that nobody can repair are given up, so that they hold nothing up.

Put here what a person names, and what is printed. Not here: the decision (``assets/upkeep/dismissing``).
"""

from __future__ import annotations

from assets.bookkeeping.choice import Choice
from assets.bookkeeping.quarantine.signing import signed
from assets.upkeep import dismissing
from orchestration.cli.options import Place
from orchestration.cli.quarantine.opened import opened
from orchestration.console import put_lines


def dismiss(place: Place, name: str, choice: Choice, by: str | None) -> None:
    """Give up the chosen records of a feed's quarantine."""
    quarantine = opened(place, name)
    signature = signed(quarantine.feed, choice.reason, by)
    given_up = quarantine.picked(choice)
    put_lines(dismissing.dismiss(quarantine.lake, quarantine.feed, given_up, signature))
