"""A question about a position of the source: which cut answers it, and gold's tables as they were there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow as pa
from sqlglot import exp

from assets.audit.gone_versions import why_gone
from assets.cuts import record, rows
from assets.cuts.chosen import LATEST, chosen
from assets.cuts.record import Cut
from assets.cuts.rows import TableAt
from assets.gold import tables
from assets.gold.silver_in_process import TooLarge
from assets.storage.lake import Lake, Layer
from orchestration.cli import session
from orchestration.cli.sql.question import Name, Question, names_in
from orchestration.cli.sql.values import LeftToSpark
from transforms.cuts.log_spelling import in_words, point_in, point_of
from transforms.errors import CutRefused
from transforms.feed.feed import Feed


@dataclass(frozen=True)
class Past:
    """Gold's tables that a question names, as of a ``cut``; ``asked``: the position as it was typed."""

    feed: Feed
    cut: Cut
    asked: str
    tables: Mapping[Name, TableAt]

    @property
    def notice(self) -> str:
        """Which cut answers, for whoever asked for another position or did not say which."""
        late = (
            f", and {self.cut.late_events:,} of its events came late"
            if self.cut.late_events
            else ""
        )
        if self.asked == LATEST:
            return f"as of {self.cut.text}{late}"
        is_it = point_of(self.cut.log, self.asked) == point_in(self.cut.log, self.cut.log_position)
        rounded = "" if is_it else f", the last recorded cut at or below {self.asked}"
        return f"as of {self.cut.text}{rounded}{late}"

    @cached_property
    def rows(self) -> Mapping[Name, pa.Table]:
        """The rows of each table in this process.

        Raises:
            LeftToSpark: they do not fit into it.
            CutRefused: files that they were made of are gone.
        """
        try:
            return {name: one.in_process() for name, one in self.tables.items()}
        except TooLarge as fault:
            raise LeftToSpark("tables too large for this process") from fault
        except FileNotFoundError as fault:
            gone = _GONE.format(feed=self.feed.name, fault=fault)
            raise CutRefused(self.feed.name, gone) from fault


_GONE: Final = (
    "a file of the warehouse is gone that a table's newest version has ({fault}); nothing of Weir removes such."
    " `weir rebuild {feed}` makes silver and gold again, and records the cut"
)


def past_of(lake: Lake, feeds: Path, question: Question, asked: str) -> Past:
    """The tables of a question as of a position, or of the newest cut (``LATEST``).

    Raises:
        CutRefused: the question is about more than one feed's gold, or no cut answers it; the error says what to do.
    """
    names = names_in(question.statement)
    feed = _feed_of(feeds, question, names)
    known = record.reached_cuts(lake, feed.name)
    if not known:
        why = record.why_none(feed) or f"no cut is recorded yet; `weir cut {feed.name}` says why"
        raise CutRefused(feed.name, why)
    cut = chosen(feed, known, asked)
    if (gone := why_gone(lake, feed, known[-1], {name[-1] for name in names})) is not None:
        raise CutRefused(feed.name, gone)
    then = rows.lake_at(lake, known[-1])
    mirrors = tables.mirrors(then, feed)
    unknown = sorted(name[-1] for name in names if name[-1] not in mirrors)
    if unknown:
        fault = f"{', '.join(unknown)} is no table of gold's current rows. A cut has {', '.join(mirrors)}"
        raise CutRefused(feed.name, fault)
    found = {
        name: TableAt(then, feed, mirrors[name[-1]], name[-1], cut.log_position) for name in names
    }
    others = sorted(one.name for one in found.values() if not one.is_as_declared)
    if others:
        raise CutRefused(feed.name, _declared_since(feed, cut, others))
    beyond = [one for one in found.values() if one.is_compacted_beyond]
    if beyond:
        raise CutRefused(feed.name, _compacted(known, cut, beyond))
    return Past(feed, cut, asked, found)


def _feed_of(feeds: Path, question: Question, names: set[Name]) -> Feed:
    of = sorted({name[1] for name in names})
    if not isinstance(question.statement, exp.Query) or not names:
        raise CutRefused("", "`--at` is for a SELECT from gold tables of one feed")
    for table in question.statement.find_all(exp.Table):
        if table.args.get("version") or table.args.get("when"):
            raise CutRefused(
                of[0], "`--at` and a version of a table in the statement exclude each other"
            )
    others = sorted(".".join(name) for name in names if name[0].lower() != Layer.GOLD)
    if others:
        raise CutRefused(of[0], f"only gold tables have rows of a cut, and {others[0]} is none")
    if len(of) > 1:
        fault = f"each feed has cuts of its own, and the statement names {', '.join(of)}: ask each by itself"
        raise CutRefused(of[0], fault)
    (feed,) = session.choose(feeds, of)
    return feed


def _declared_since(feed: Feed, cut: Cut, names: Sequence[str]) -> str:
    """What is said of a cut whose tables were made before the feed file, or a decision, said what it says now."""
    return (
        f"as of {cut.text}: {', '.join(names)} of the newest cut was made under another declaration than the feed file"
        f" has now, or before a decision that changes its rows. `weir run --feed {feed.name}` makes it by what is"
        " declared now, and records the cut again"
    )


def _compacted(known: Sequence[Cut], cut: Cut, beyond: Sequence[TableAt]) -> str:
    """What is said of a cut that compaction has passed."""
    watermarks = [one.plan.compaction_watermark for one in beyond]
    furthest = max(one.log_position for one in watermarks if one is not None)
    left = [one for one in known if one.log_position >= furthest]
    names = ", ".join(sorted(one.name for one in beyond))
    oldest = left[0].text if left else in_words(cut.log, furthest)
    return (
        f"as of {cut.text}: the history of {names} is compacted beyond it. The oldest cut that can be asked for is"
        f" {oldest}; a longer `compaction: {{retention: ...}}` in the feed file keeps more from now on"
    )
