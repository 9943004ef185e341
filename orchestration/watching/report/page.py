"""The page of a report: HTML with everything in it, light or dark, for a phone or a wide screen.

Put here the page around the plots. Not here: which plots there are (``plots``), and its colours and lengths
(``style``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from html import escape

from assets.audit.feed_report import FeedReport
from orchestration.watching.report.figures import svg_of
from orchestration.watching.report.plots import Section, sections, spoken_seconds
from orchestration.watching.report.style import STYLE
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.formats import FORMATS


def page_of(feed: Feed, facts: FeedReport, now: datetime) -> str:
    """The report as one HTML page; ``now``: when it is made."""
    title = f"{feed.name}: report"
    body = "\n".join(
        [
            f"<header><h1>{escape(feed.name)}</h1>",
            f"<p>{escape(feed.format)} from <code>{escape(feed.landing)}</code>, a window is"
            f" {'an hour' if feed.window == 'hour' else 'a day'}."
            f" Made at <time datetime='{now:%Y-%m-%dT%H:%M:%SZ}'>{now:%Y-%m-%d %H:%M:%S} UTC</time>"
            f" by Weir.</p></header>",
            f"<dl class='tiles'>{''.join(_tiles(feed, facts, now))}</dl>",
            f"<main>{''.join(_section(one) for one in sections(feed, facts))}{_tables(facts)}</main>",
            f"<footer>{''.join(_unknowable(feed))}</footer>",
        ]
    )
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _tiles(feed: Feed, facts: FeedReport, now: datetime) -> Iterator[str]:
    """The few numbers that a reader wants first."""
    in_gold = [one.window for one in facts.windows if one.finished_at is not None]
    newest = in_gold[-1] if in_gold else None
    since = "nothing yet"
    if newest is not None:
        seconds = (now - parse_window(newest, feed.window) - STEPS[feed.window]).total_seconds()
        since = f"ended {spoken_seconds(seconds)} ago" if seconds > 0 else "still open"
    events = facts.outcomes.get("events", 0)
    rows = sum(one.rows for one in facts.gold)
    tombstones = sum(one.tombstones for one in facts.gold)
    yield _tile("newest window in gold", newest or "–", since)
    yield _tile("windows", f"{facts.all_windows:,}", f"the newest {len(facts.windows):,} are shown")
    yield _tile("source events", f"{events:,}", f"{facts.outcomes.get('changes', 0):,} changes")
    yield _tile("rows in gold", f"{rows:,}", f"{tombstones:,} tombstones")
    waiting = facts.waiting
    parts = [
        f"{100 * waiting / events:.2g} % of the events" if waiting and events else "nothing waits",
        *([f"{facts.dismissed:,} dismissed"] if facts.dismissed else []),
        *([f"{late:,} too late"] if (late := facts.outcomes.get("too_late", 0)) else []),
    ]
    yield _tile("waiting in quarantine", f"{waiting:,}", ", ".join(parts), is_bad=waiting > 0)


def _tile(name: str, value: str, more: str, *, is_bad: bool = False) -> str:
    kind = " class='bad'" if is_bad else ""
    return (
        f"<div{kind}><dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        f"<dd class='more'>{escape(more)}</dd></div>"
    )


def _section(section: Section) -> str:
    """A part of the report: heading, sentence, legend, plot, and its numbers, which open on a click."""
    parts = [f"<section><h2>{escape(section.title)}</h2><p>{escape(section.says)}</p>"]
    if section.plot is None and section.nothing:
        parts.append(f"<p class='nothing'>{escape(section.nothing)}</p>")
    if section.plot is not None:
        plot = section.plot
        colors = ";".join(f"--s{at}:var(--{one})" for at, one in enumerate(plot.colors))
        legend = "".join(
            f"<li><i style='background:var(--{color})'></i>{escape(name)}</li>"
            for name, color in zip(plot.series, plot.colors, strict=True)
        )
        parts.append(
            f"<figure style='{colors}'><ul class='legend'>{legend}</ul>"
            f"{svg_of(plot, f'{section.title}. {section.says}')}</figure>"
        )
    if section.rows:
        opened = "" if section.plot else " open"
        parts.append(f"<details{opened}><summary>Numbers</summary>{_table(section)}</details>")
    return "".join([*parts, "</section>"])


def _table(section: Section) -> str:
    head = "".join(f"<th scope='col'>{escape(one)}</th>" for one in section.heads)
    rows = "".join(_row(one) for one in section.rows)
    return (
        f"<div class='wide' tabindex='0' role='region' aria-label='{escape(section.title)}'>"
        f"<table><caption>{escape(section.title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    return f"<tr><th scope='row'>{escape(first)}</th>{''.join(f'<td>{escape(one)}</td>' for one in rest)}</tr>"


def _tables(facts: FeedReport) -> str:
    """What became of the events of each source table, over all windows."""
    names = [name for name, number in facts.outcomes.items() if number]
    rows = [
        [table, *(f"{counts.get(name, 0):,}" for name in names)]
        for table, counts in facts.tables.items()
    ]
    heads = ["table", *(name.replace("_", " ") for name in names)]
    return _section(Section("Events by table", "All windows together.", None, heads, rows))


def _unknowable(feed: Feed) -> Iterator[str]:
    sentences = FORMATS[feed.format].unknowable
    if sentences:
        yield "<h2>What cannot be known from this source</h2><ul>"
        yield "".join(f"<li>{escape(one)}</li>" for one in sentences)
        yield "</ul>"
