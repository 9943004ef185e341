"""What is wrong with declared expectations and can be known only by Great Expectations, which takes seconds to import.

A command asks here once it knows that it has work to do, and before it begins. Put here how these faults are told. Not
here: finding them (``assets/quality/suite_faults``), and what is known without it (``declared_expectations``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assets.quality.suite_faults import faults_of_suites
from orchestration.feeds.load import located
from orchestration.feeds.misdeclared import refuse
from orchestration.feeds.places_in_yaml import places_in
from transforms.feed.feed import Feed


def refuse_unknown_expectations(feeds: Sequence[Feed]) -> None:
    """Raise where a feed declares expectations that there are not, or with arguments that they do not have.

    Raises:
        FeedMisdeclared: there is one, with its line and column; all those of a feed at once.
    """
    for feed in feeds:
        faults = faults_of_suites(feed)
        if faults:
            places = places_in(Path(faults[0].file))
            refuse([located(fault, places) for fault in faults])
