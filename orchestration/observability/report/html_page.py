"""The page of a report: where it lies, its numbers, plots and tables, light or dark, all in one HTML."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from assets.audit import feed_report
from assets.audit.feed_report import FeedReport, WindowFacts, seconds_to_gold
from assets.cuts.record import Recorded, newest, why_none
from assets.cuts.words import ahead_in_words
from assets.storage.lake import Lake
from assets.storage.locks import in_turn
from assets.storage.stored_text import HTML, store_text
from assets.wording import counted
from orchestration.observability.last_comparison import Comparison, last_comparison
from orchestration.observability.last_look import last_look, looks
from orchestration.observability.report.svg_plots import Plot, svg_of, whole
from transforms.addresses import without_credentials
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.formats import FORMATS
from transforms.quantities import spoken_bytes, spoken_seconds
from transforms.silver.accounting import OUTCOMES
from transforms.source_health import LookFigures, SourceFacts, figures, findings

FOLDER = "_reports"
REPORTS_URL = "WEIR_REPORTS_URL"
"""Names the address at which some web server shows the folder of reports, for links in Dagster's pages."""

REPORTS = "/weir/reports"
"""Below this path Weir's own web server shows them (``orchestration/web/documents``)."""


def address_of(lake: Lake, feed: Feed) -> str:
    """Where the feed's report is, or will be."""
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.html"


def link_on_pages(feed: Feed) -> str:
    """The link on Dagster's pages: below ``WEIR_REPORTS_URL`` where that is set, else at Weir's own web server."""
    base = without_credentials(os.environ.get(REPORTS_URL, "").strip()).rstrip("/")
    return f"{base or REPORTS}/{quote(feed.name)}.html"


def opened_by_browser(lake: Lake, feed: Feed) -> str:
    """An address that a browser on this machine opens: that of ``WEIR_REPORTS_URL``, else of the file itself."""
    link, address = link_on_pages(feed), address_of(lake, feed)
    if not link.startswith(REPORTS):
        return link
    return address if "://" in address else Path(address).as_uri()


def make_report(lake: Lake, feed: Feed, now: datetime) -> str:
    """The report's page, of the tables as they are and of the last look at the source."""
    return page_of(feed, feed_report.facts_of(lake, feed), now, asked_of_source(lake, feed))


@contextmanager
def making(lake: Lake, feed: Feed) -> Iterator[Callable[[str], None]]:
    """Around the making of the feed's page, of which the facts are read inside; gives what puts it in its place.

    A run, the look at the source and the comparison with it each make it: in turn, so that no page takes the place of
    another that was made of newer facts.
    """
    with in_turn(lake, f"{FOLDER}.{feed.name}", _PATIENCE):
        yield lambda page: store_text(address_of(lake, feed), page, HTML)


_PATIENCE: Final = 60.0
"""How many seconds are waited at most while others make the page, each of which may read tables for a while."""


@dataclass(frozen=True, slots=True)
class AskedOfSource:
    """What is known of the feed's source: how it stands, whether gold holds what it holds, and up to where it is whole.

    ``looks``: numbers of the looks before, the oldest first, and of this one. ``cut``: None of a feed that has none.
    """

    look: SourceFacts | None = None
    compared: Comparison | None = None
    looks: Sequence[LookFigures] = ()
    cut: Recorded | None = None


def asked_of_source(lake: Lake, feed: Feed) -> AskedOfSource:
    """What the warehouse keeps of it."""
    return AskedOfSource(
        last_look(lake, feed),
        last_comparison(lake, feed),
        looks(lake, feed),
        None if why_none(feed) is not None else newest(lake, feed),
    )


# The page of a report: HTML with everything in it, light or dark, for a phone or a wide screen.


def page_of(
    feed: Feed, facts: FeedReport, now: datetime, asked: AskedOfSource | None = None
) -> str:
    """The report as one HTML page; ``now``: when it is made; ``asked``: of its source."""
    asked = asked or AskedOfSource()
    title = f"{feed.name}: report"
    body = "\n".join(
        [
            f"<header><h1>{escape(feed.name)}</h1>",
            f"<p>{escape(feed.format)} from <code>{escape(feed.landing)}</code>, a window is"
            f" {'an hour' if feed.window == 'hour' else 'a day'}."
            f" Made at <time datetime='{now:%Y-%m-%dT%H:%M:%SZ}'>{now:%Y-%m-%d %H:%M:%S} UTC</time>"
            f" by Weir.</p></header>",
            f"<dl class='tiles'>{''.join(_tiles(feed, facts, now, asked))}</dl>",
            f"<main>{''.join(_section(one) for one in sections(feed, facts))}{_tables(facts)}"
            f"{_section(source_section(feed, facts, now, asked.look))}"
            f"{''.join(_section(one) for one in look_sections(asked.looks))}"
            f"{_section(cut_section(feed, asked.cut)) if asked.cut else ''}"
            f"{_section(comparison_section(asked.compared)) if asked.compared else ''}</main>",
            f"<footer>{''.join(_unknowable(feed))}</footer>",
        ]
    )
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _tiles(feed: Feed, facts: FeedReport, now: datetime, asked: AskedOfSource) -> Iterator[str]:
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
    look, compared = asked.look, asked.compared
    if look is not None:
        found = findings(look, feed.running.health)
        since = spoken_seconds(max(0.0, (now - look.looked_at).total_seconds()))
        yield _tile(
            "the source",
            f"{len(found):,} found" if found else "well",
            f"asked {since} ago",
            is_bad=bool(found),
        )
    if asked.cut is not None:
        yield _cut_tile(asked.cut, now)
    if compared is not None:
        since = spoken_seconds(max(0.0, (now - compared.compared_at).total_seconds()))
        differ = f"{compared.differing:,} differ" if compared.differing else ""
        open_tables = f"{len(compared.untold):,} open" if compared.untold else ""
        yield _tile(
            "compared with the source",
            ", ".join(filter(None, [differ, open_tables])) or "the same",
            f"{since} ago",
            is_bad=bool(compared.differing),
        )


def _cut_tile(found: Recorded, now: datetime) -> str:
    cut, name = found.cut, "all tables are whole up to"
    if cut is None or not cut.is_reached:
        return _tile(name, "–", "no cut yet")
    at = cut.source_at
    age = "" if at is None else f"{spoken_seconds(max(0.0, (now - at).total_seconds()))} old"
    held = "held back" if found.held_by else ""
    return _tile(name, cut.text, ", ".join(filter(None, [age, held])), is_bad=bool(found.held_by))


def _tile(name: str, value: str, more: str, *, is_bad: bool = False) -> str:
    kind = " class='bad'" if is_bad else ""
    return (
        f"<div{kind}><dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        f"<dd class='more'>{escape(more)}</dd></div>"
    )


def _section(section: Section) -> str:
    """A part of the report: heading, sentence, legend, plot, and its numbers, which open on a click."""
    kind = " class='texts'" if section.is_table else ""
    parts = [f"<section{kind}><h2>{escape(section.title)}</h2><p>{escape(section.says)}</p>"]
    if section.wrong:
        parts.append(f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in section.wrong)}</ul>")
    if section.plot is None and section.nothing and not (section.is_table and section.rows):
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
    if section.rows and section.is_table:
        parts.append(_table(section))
    elif section.rows:
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


# Which plots and tables a report has, and what each shows in words.


DURATIONS = {
    1: "1 s",
    60: "1 min",
    3_600: "1 h",
    86_400: "1 d",
    2_592_000: "30 d",
    31_536_000: "1 y",
}
COLORS = {
    **{"changes": "blue", "duplicates": "yellow", "quarantined": "red", "held": "purple"},
    **{"too_late": "orange", "control": "grey"},
}
KINDS = ("blue", "green", "red", "purple", "orange", "yellow", "sky")
"""Colours of operations, the commonest first."""

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: its title, what it shows in a sentence, a plot where there is something to draw, a table.

    ``nothing``: what is said where there is no plot. ``is_table``: it never has one, and its cells are texts and no
    numbers. ``wrong``: sentences that a reader has to see.
    """

    title: str
    says: str
    plot: Plot | None
    heads: Sequence[str]
    rows: Rows
    nothing: str = ""
    is_table: bool = False
    wrong: Sequence[str] = ()


def sections(feed: Feed, facts: FeedReport) -> Iterator[Section]:
    """The report's parts, in order."""
    yield _outcomes(facts)
    yield _operations(facts)
    yield _duplicates(facts)
    yield _lag(feed, facts)
    yield _growth(facts)
    yield _gold(facts)
    yield _quarantine(facts)


def _labels(facts: FeedReport) -> list[str]:
    return [one.window for one in facts.windows]


def _stacked(
    name: str, facts: FeedReport, names: Sequence[str], of: Callable[[WindowFacts, str], int | None]
) -> Plot | None:
    """Bars of these names, one upon the other, for each window; none where all are empty."""
    series = {one: [of(window, one) for window in facts.windows] for one in names}
    there = {one: values for one, values in series.items() if any(values)}
    if not there:
        return None
    others = iter(KINDS)
    colors = [COLORS.get(one) or next(others, "grey") for one in there]
    spoken = {one.replace("_", " "): values for one, values in there.items()}
    return Plot(name, "bars", _labels(facts), spoken, colors)


def _numbered(values: Sequence[int | None]) -> list[str]:
    return ["–" if one is None else f"{one:,}" for one in values]


def _outcomes(facts: FeedReport) -> Section:
    used = [one for one in OUTCOMES if one == "changes" or facts.outcomes.get(one)]
    return Section(
        "What became of the events",
        "Source events of each window, by their outcome. They add up to all that were read.",
        _stacked("outcomes", facts, used, lambda window, name: window.outcomes.get(name, 0)),
        ["window", "events", *(one.replace("_", " ") for one in used)],
        [
            [one.window, *_numbered([one.outcomes.get(name, 0) for name in ("events", *used)])]
            for one in reversed(facts.windows)
        ],
        nothing="No window has an event yet.",
    )


def _operations(facts: FeedReport) -> Section:
    counts = Counter[str]()
    for window in facts.windows:
        counts.update(window.operations or {})
    names = [name for name, _ in counts.most_common(len(KINDS))]
    plot = _stacked("operations", facts, names, lambda one, name: (one.operations or {}).get(name))
    if plot is not None:
        plot = Plot(plot.name, plot.kind, plot.labels, plot.series, KINDS[: len(plot.series)])
    return Section(
        "What the source did",
        "Changes of each window, by the source's own operation. Windows with very many changes are left out.",
        plot,
        ["window", *names],
        [
            [one.window, *_numbered([_counted(one.operations, name) for name in names])]
            for one in reversed(facts.windows)
        ],
        nothing="No window has a change yet, or all have too many to be looked through.",
    )


def _counted(operations: Mapping[str, int] | None, name: str) -> int | None:
    return None if operations is None else operations.get(name, 0)


def _duplicates(facts: FeedReport) -> Section:
    def of(window: WindowFacts, name: str) -> int | None:
        return window.late if name == "late" else window.outcomes.get(name, 0)

    names = ("duplicates", "late", "too_late")
    plot = _stacked("late", facts, names, of)
    return Section(
        "Duplicates and lateness",
        "Duplicates came twice within their window. Late changes were made before their window began; they count."
        " What is too late stands in quarantine, for its history is compacted.",
        plot,
        ["window", "duplicates", "late", "too late"],
        [
            [one.window, *_numbered([of(one, name) for name in names])]
            for one in reversed(facts.windows)
        ],
        nothing="Nothing came twice, and nothing came late.",
    )


def _lag(feed: Feed, facts: FeedReport) -> Section:
    lags = [seconds_to_gold(feed, one) for one in facts.windows]
    known = [one for one in lags if one is not None]
    marks: list[float] = []
    if known:
        # The axis is logarithmic, and has no 0.
        longest = max(*known, 60.0)
        above = next((one for one in DURATIONS if one >= longest), 10 * 31_536_000)
        marks = [one for one in (*DURATIONS, above) if one <= above]
    plot = Plot(
        *("lag", "dots", _labels(facts)),
        {"in gold after": [None if one is None else max(1.0, one) for one in lags]},
        *(["blue"], spoken_seconds, tuple(dict.fromkeys(marks))),
    )
    return Section(
        "Lag",
        "How long after its end each window was in gold, the last time that it was brought there.",
        plot if known else None,
        ["window", "in gold at (UTC)", "after its end"],
        [
            [
                one.window,
                f"{one.finished_at:%Y-%m-%d %H:%M:%S}" if one.finished_at else "not yet",
                "–" if lag is None else spoken_seconds(lag),
            ]
            for one, lag in reversed([*zip(facts.windows, lags, strict=True)])
        ],
        nothing="No window is in gold yet.",
    )


def _growth(facts: FeedReport) -> Section:
    runs = facts.growth[-200:]
    labels = [f"{one.ended_at:%Y-%m-%d %H:%M}" for one in runs]
    plot = Plot(
        *("growth", "lines", labels),
        {"rows": [one.rows for one in runs], "tombstones": [one.tombstones for one in runs]},
        ["blue", "red"],
    )
    return Section(
        "Growth of gold",
        "Rows and tombstones of all gold tables together, after each run.",
        plot if len(runs) > 1 else None,
        ["run ended (UTC)", "rows", "tombstones"],
        [
            [label, *_numbered([one.rows, one.tombstones])]
            for label, one in reversed([*zip(labels, runs, strict=True)])
        ],
        nothing="One run has been noted." if runs else "No run has been noted yet.",
    )


def _gold(facts: FeedReport) -> Section:
    largest = sorted(facts.gold, key=lambda one: (-one.rows, one.name))[:15]
    plot = Plot(
        *("gold", "rows", [one.name for one in largest]),
        {
            "rows": [one.rows for one in largest],
            "tombstones": [one.tombstones for one in largest],
        },
        ["blue", "red"],
    )
    return Section(
        "Gold tables",
        "Rows, and tombstones of deleted keys, as they are now.",
        plot if any(one.rows or one.tombstones for one in largest) else None,
        ["table", "rows", "tombstones"],
        [
            [one.name, *_numbered([one.rows, one.tombstones])]
            for one in sorted(facts.gold, key=lambda one: one.name)
        ],
        nothing="There is no row in gold yet.",
    )


def _quarantine(facts: FeedReport) -> Section:
    first = dict([*facts.reasons.items()][:15])
    plot = Plot(
        *("quarantine", "rows", [one.replace("_", " ") for one in first]),
        {"events": [*first.values()]},
        ["red"],
    )
    return Section(
        "Quarantine by reason",
        "Events of these windows that could not become changes, the dismissed ones included.",
        plot if first else None,
        ["reason", "events"],
        [[name.replace("_", " "), f"{number:,}"] for name, number in facts.reasons.items()],
        nothing="Nothing of these windows is in quarantine.",
    )


def source_section(
    feed: Feed, facts: FeedReport, now: datetime, look: SourceFacts | None
) -> Section:
    """How the source stands: by what was read of it, and by the last look at it."""
    rows: list[list[str]] = []
    for one in facts.newest:
        if one.newest_event_at is None:
            rows.append([f"table {one.table}", "no event tells its time", ""])
        else:
            age = spoken_seconds(max(0.0, (now - one.newest_event_at).total_seconds()))
            newest = f"newest event at {one.newest_event_at:%Y-%m-%d %H:%M:%S}"
            rows.append([f"table {one.table}", newest, f"{age} old"])
    wrong: list[str] = []
    says = "When the source made the newest event of each table (UTC)."
    if look is not None:
        rows += [[*row] for row in figures(look)]
        found = findings(look, feed.running.health)
        says = f"{says} All else is of the last look at the source, at {look.looked_at:%Y-%m-%d %H:%M:%S}."
        wrong = [f"{one.level.capitalize()}: {one.says}." for one in found]
    return Section(
        "The source",
        says,
        None,
        ["part", "figure", "more"],
        rows,
        "No event was read yet.",
        is_table=True,
        wrong=wrong,
    )


def look_sections(found: Sequence[LookFigures]) -> Iterator[Section]:
    """How the source stood at the newest looks: a part for each figure that two of them have measured."""
    moments = [f"{one.looked_at:%Y-%m-%d %H:%M:%S}" for one in found]
    labels = [f"{one.looked_at:%m-%d %H:%M}" for one in found]
    for title, says, name, values, text, units in (
        (
            *(
                "Age of the newest event",
                "How old the newest event that was read was at each look at the source.",
            ),
            *(
                "old",
                [one.newest_event_age for one in found],
                spoken_seconds,
                (1, 60, 3_600, 86_400),
            ),
        ),
        (
            *(
                "Unread records",
                "Records of all partitions that were not read, at each look at the source.",
            ),
            *("unread", [one.unread for one in found], whole, ()),
        ),
        (
            *(
                "Log behind",
                "How much log the source had written that was not read, at each look at it.",
            ),
            *("behind", [one.log_behind for one in found], spoken_bytes, _BYTES),
        ),
    ):
        if len([one for one in values if one is not None]) > 1:
            yield Section(
                title,
                says,
                Plot(name, "lines", labels, {name: values}, ["blue"], text, units=units),
                ["looked at (UTC)", name, "wrong then"],
                [
                    [moment, "–" if value is None else text(value), _wrong(one)]
                    for moment, value, one in reversed([*zip(moments, values, found, strict=True)])
                ],
            )


_BYTES: Final = tuple(1 << power for power in (0, 10, 20, 30, 40))


def _wrong(look: LookFigures) -> str:
    parts = [f"{look.failing:,} failing"] if look.failing else []
    parts += [counted(look.warnings, "warning")] if look.warnings else []
    return ", ".join(parts) or "nothing"


# The report's style: colours that people with colour blindness tell apart, in light and in dark.


STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2126;--soft:#59636e;--line:#d7dce2;--page:#f6f7f9;--card:#fff;
--blue:#0072b2;--sky:#56b4e9;--green:#009e73;--yellow:#c99700;--orange:#d55e00;--red:#b3261e;--purple:#8e5aa8;
--grey:#8a939c}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#a5afb9;--line:#39424b;--page:#14181c;--card:#1d2329;
--blue:#4aa8e0;--sky:#8fd0f5;--green:#2fc39a;--yellow:#e6b93c;--orange:#f0894a;--red:#f2776d;--purple:#c295da;
--grey:#8a939c}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:100rem;background:var(--page);color:var(--ink);
font:1rem/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header p,section p,footer{color:var(--soft)}
h1{margin:0;font-size:1.7rem;overflow-wrap:anywhere}h2{margin:0;font-size:1.05rem}
header p{margin:.25rem 0 1rem;overflow-wrap:anywhere}section p{margin:.25rem 0 .75rem;font-size:.9rem}
.tiles{display:grid;gap:.75rem;margin:0 0 .75rem;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}
.tiles div,section{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;
min-width:0}
.tiles dt,.tiles .more{color:var(--soft);font-size:.8rem}
.tiles dd{margin:0;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles dd.more{font-weight:400}.tiles .bad dd:not(.more){color:var(--red)}
main{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,23rem),1fr));align-items:start}
figure{margin:0}.legend{display:flex;flex-wrap:wrap;gap:.15rem .9rem;margin:0 0 .25rem;padding:0;list-style:none;
font-size:.85rem}
.legend i{display:inline-block;width:.7rem;height:.7rem;margin-right:.35rem;border-radius:.15rem}
svg{display:block;width:100%;max-width:34rem;height:auto;overflow:visible}
svg text{font-size:12px;fill:var(--soft)}
svg .axis.x text{text-anchor:middle}
svg .axis.y text,svg .horizontal .axis.y text{text-anchor:end}
svg .guide.line{fill:none;stroke:var(--line);stroke-width:1}svg .axis .line{fill:none;stroke:var(--line)}
svg .vertical .axis.x .guide.line,svg .horizontal .axis.y .guide.line{display:none}
svg .color-0{--c:var(--s0)}svg .color-1{--c:var(--s1)}svg .color-2{--c:var(--s2)}svg .color-3{--c:var(--s3)}
svg .color-4{--c:var(--s4)}svg .color-5{--c:var(--s5)}svg .color-6{--c:var(--s6)}
svg .reactive{fill:var(--c);stroke:none}svg .reactive:hover{opacity:.7}
svg path.reactive.line{fill:none;stroke:var(--c);stroke-width:2}
.nothing{padding:1rem 0}details{margin-top:.5rem}summary{cursor:pointer;color:var(--soft);font-size:.85rem}
.wide{overflow:auto;max-height:24rem}
table{border-collapse:collapse;width:100%;font-size:.85rem;font-variant-numeric:tabular-nums}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left}tbody th{font-weight:400}thead th{position:sticky;top:0;background:var(--card)}
.texts{grid-column:1/-1}.texts td,.texts thead th{text-align:left;white-space:pre-line;overflow-wrap:anywhere}
.texts th{vertical-align:top;white-space:normal}.texts td{vertical-align:top}
.texts ul{margin:.25rem 0 .75rem;padding-left:1.2rem;color:var(--red);font-size:.9rem}
footer{padding:1rem 0;font-size:.9rem}footer h2{font-size:.95rem}footer ul{margin:.25rem 0;padding-left:1.2rem}
@media print{body{background:none}section{break-inside:avoid}}
"""


def cut_section(feed: Feed, found: Recorded) -> Section:
    """Up to where all gold tables are whole, with the version of each that shows it."""
    cut = found.cut
    says, rows, wrong = "No position is known up to which all tables are whole.", [], []
    if cut is not None and cut.is_reached:
        at = "" if cut.source_at is None else f", made at {cut.source_at:%Y-%m-%d %H:%M:%S}"
        says = (
            f"All tables are whole up to {cut.text}{at}: recorded at {cut.recorded_at:%Y-%m-%d %H:%M:%S}, last found to"
            f" be the newest at {cut.seen_at:%Y-%m-%d %H:%M:%S} (UTC). `weir query --at latest-cut` answers as of it."
        )
        rows = [
            [f"gold.{feed.name}.{one.name}", f"{one.version:,}", ahead_in_words(one)]
            for one in cut.tables
        ]
        if cut.windows:
            wrong.append(f"{counted(len(cut.windows), 'window')} hold more than it.")
        if cut.late_events:
            wrong.append(f"{counted(cut.late_events, 'event')} at or below it came late.")
        if cut.broken_by:
            wrong.append(f"It can no longer be asked for: {cut.broken_by}.")
    wrong += [f"Held back: {one}." for one in found.held_by]
    return Section(
        "One cut across tables",
        says,
        None,
        ["table", "version", "this version is"],
        rows,
        "No table.",
        is_table=True,
        wrong=wrong,
    )


def comparison_section(made: Comparison) -> Section:
    """What the last comparison of gold with the source has found."""
    rows = [
        [one.table, one.state, "\n".join([one.says, *one.explain[:_EXPLAINED]])]
        for one in made.tables
    ]
    says = (
        f"All of gold, row by row, beside the live source as it was at {made.compared_at:%Y-%m-%d %H:%M:%S} (UTC), when"
        f" its log stood at {made.place}."
    )
    heads = ["table", "found", "more"]
    return Section("Compared with the source", says, None, heads, rows, "No table.", is_table=True)


_EXPLAINED: Final = 5
"""So many lines are shown of a table that tell the story of a key that differs."""
