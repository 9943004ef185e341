"""``weir onboard``: from drops to a commented feed file and a preview of gold, without a table or Spark."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from assets.onboarding import preview, sample
from assets.onboarding.preview import Preview, PreviewTable
from assets.onboarding.sample import Sample, refuse_empty, sample_landing
from assets.wording import counted
from orchestration.cli.options import FEEDS
from orchestration.console import complain, put_file, say, waiting
from orchestration.feeds.faults import InvalidKey
from orchestration.feeds.keys import DeclaredFeed
from orchestration.feeds.landings import landing_from
from orchestration.feeds.load import load_feed
from orchestration.sheets import Grid, Sheet
from transforms.addresses import without_credentials
from transforms.display import yaml_scalar
from transforms.errors import FeedMisdeclared, WeirError
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.near_names import did_you_mean
from transforms.onboarding.landing_windows import LandingWindows
from transforms.onboarding.proposal import Entry, Proposal, file_text, first_of
from transforms.onboarding.recognition import Evidence, proposal_of_records


@click.command("onboard")
@click.argument("landing")
@click.option("--format", "format_name", metavar="FORMAT", help="The format, where it is known.")
@click.option("--name", metavar="NAME", help="The feed's name. By default the landing's last part.")
@FEEDS
@click.option("--files", metavar="GLOB", help="Only objects of these names are drops: '**/*.json'.")
@click.option(
    "--write/--print", "writes", default=True, help="Write the feed file (default), or print it."
)
@click.option("--force", is_flag=True, help="Write over a feed file that is there already.")
@click.option(
    "--sample",
    "objects",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many objects are read at most; of topics so many hundred records.",
)
def onboard_command(landing: str, feeds: Path, **asked: object) -> None:
    """Write a commented feed file for drops that lie in LANDING, from a sample of them.

    LANDING is a folder, s3://bucket/prefix/ or kafka://broker:9092/topic. The command reads a few drops, says by which
    marks it recognises their format, proposes tables, keys, types and windows with the evidence for each, and shows the
    rows that gold would have. No table is written, and Spark is not started:

        weir onboard s3://drops/shop/
    """
    from orchestration.console import say

    # What is imported next takes a second.
    say(f"looking at {without_credentials(landing)}")

    sys.exit(onboard(Request(landing=landing, feeds=feeds, **asked)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asks for: see the command's options."""

    landing: str
    feeds: Path
    format_name: str | None = None
    name: str | None = None
    files: str | None = None
    writes: bool = True
    force: bool = False
    objects: int = 20


def onboard(request: Request) -> int:
    """Look at the drops, write or print the feed file, and show what gold would have; returns the exit code."""
    if request.format_name not in (None, *FORMATS):
        fault = f"{request.format_name!r} is not a format{did_you_mean(str(request.format_name), FORMATS)}"
        raise FeedMisdeclared("weir onboard", "--format", fault, sorted(FORMATS))
    address = address_of(request)
    file = request.feeds.expanduser().resolve() / f"{address.name}.yaml"
    if request.writes and not request.force:
        refuse_existing(file)
    feed = Feed(address.name, "", address.landing, files=address.files or "**")
    with waiting("reading a sample"):
        found = sample_landing(feed, request.objects, lambda what: say(f"  {what}"), say_windows)
    refuse_empty(found)
    say(f"{_read_in_words(found)}; nothing is written but the feed file")
    with waiting("recognising the format"):
        evidence = sample.recognise(found, request.format_name)
        feed = sample.feed_of(found, evidence, address.files)
        proposal = proposal_of_records(feed, found.records(feed))
    draft = drafted(feed, address, found, evidence, proposal)
    for line in draft.lines:
        say(line)
    for note in (*proposal.notes, *evidence.elsewhere, *not_read(found, feed)):
        say(f"check: {note}")
    return finish(request, file, draft, found)


def say_windows(found: LandingWindows) -> None:
    """Say which windows the landing has, and what each of them is from."""
    for line in windows_in_words(found):
        say(line)
    if found.names:
        say("reading a sample of the objects:")


def _read_in_words(found: Sample) -> str:
    if found.of_topics:
        of = counted(found.listed, "record")
        return f"{counted(len(found.of_topics), 'record')} of {of} read"
    more = "" if found.is_all_listed else "more than "
    cut = sum(one.is_cut for one in found.objects)
    part = f" ({counted(cut, 'object')} only at the beginning)" if cut else ""
    objects = counted(found.listed, "object")
    kinds = Counter(one.compression for one in found.objects if one.compression)
    part += "".join(f", {count:,} of them {kind}" for kind, count in kinds.items())
    return f"{len(found.objects)} of {more}{objects} read, {found.size:,} bytes in all{part}"


def not_read(found: Sample, feed: Feed) -> Iterator[str]:
    """Sentences on objects in the landing that the feed would leave out."""
    drops = set(found.drops_of(feed))
    names = [name for name in found.names() if name not in drops]
    if found.unread:
        shown = "; ".join(found.unread[:3])
        yield f"a run would put objects into quarantine as they are: {shown}."
    if found.encoding is not None and found.encoding.name is None:
        yield f"{found.encoding.evidence}: say it with the key encoding."
    if found.dialect is not None and found.dialect.others and FORMATS[feed.format].reads_csv:
        yield (
            f"{first_of(found.dialect.others)} seems to have another delimiter: give its table a key csv of its own."
        )
    for what, some in (("by their names", names), ("as no drops", [*found.left_out])):
        if some:
            first = "; ".join(some[:3]) + ("; …" if len(some) > 3 else "")
            yield f"the feed leaves out {what}: {first}."


def next_command(request: Request, feed: Feed) -> str:
    """What a person would call now."""
    is_usual = str(request.feeds) in ("feeds", os.environ.get("WEIR_FEEDS"))
    where = "" if is_usual else f" --feeds {request.feeds}"
    if not request.writes:
        return f"weir onboard {request.landing}{where}, which writes the file"
    return f"weir run --feed {feed.name}{where}"


def finish(request: Request, file: Path, draft: Draft, found: Sample) -> int:
    """Write or print the file, and show what a feed with it makes of the sample."""
    if request.writes:
        write_feed_file(file, draft.text)
        say(f"wrote {file}")
    else:
        put_file(draft.text)
    try:
        feed = loaded_draft(draft)
    except WeirError as fault:
        complain(f"the proposal has to be repaired before it can be used: {fault}")
        return 2
    with waiting("making the preview"):
        # Cut again: what a header of CSV is depends on the tables.
        seen = preview.preview(feed, found.records(feed))
    show_preview(feed, seen, to_stdout=request.writes)
    if not seen.tables:
        say("Nothing of the sample would come to gold: repair what is named above first.")
    say(f"Try next: {next_command(request, feed)}")
    return 0


_TIME: Final = re.compile(r"(?:dt|date|day|hour|hr|year|month|tablet|stream)=.*|[0-9T:Z_-]+")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A landing: ``landing`` as Weir reads it, ``written`` as the feed file has it, relative to that file.

    ``files``: which objects are drops, where the person says so; ``name``: the feed's name.
    """

    landing: str
    written: str
    files: str | None
    name: str


def address_of(request: Request) -> Address:
    """The address of a landing; a single file is its folder, with that file alone."""
    text, files = request.landing, request.files
    is_folder = "://" not in text
    path = Path(text).expanduser()
    if is_folder and path.is_file():
        text, files, path = str(path.parent), files or path.name, path.parent
    # Any format that reads topics will do: only the landing's form is checked.
    declared = DeclaredFeed(format="debezium", landing=text)
    try:
        landing = landing_from(declared, Path.cwd())
    except InvalidKey as unfit:
        raise FeedMisdeclared("weir onboard", "LANDING", unfit.fault) from None
    written = landing
    if is_folder and not path.is_absolute() and not text.startswith("~"):
        written = os.path.relpath(landing, request.feeds.expanduser().resolve())
    found = request.name or name_of(landing)
    if not _NAME.fullmatch(found):
        fault = "a feed's name is lower-case letters, digits and _, a letter first"
        raise FeedMisdeclared("weir onboard", "--name", f"{found!r}: {fault}")
    return Address(landing, written, files, found)


def name_of(landing: str) -> str:
    """The name that a feed of the landing has unless another is given: its last part that is no date."""
    parts = [part for part in re.split(r"[/,]", landing.rstrip("/")) if part]
    telling = [part for part in parts if not _TIME.fullmatch(part)]
    last = (telling or parts or ["feed"])[-1]
    plain = re.sub(r"[^a-z0-9]+", "_", last.lower()).strip("_")
    return plain if re.match(r"[a-z]", plain) else f"feed_{plain}".rstrip("_")


@dataclass(frozen=True, slots=True)
class Draft:
    """A feed file that is proposed: its text, the same with an absolute landing, and lines on it for a person."""

    name: str
    text: str
    absolute: str
    lines: tuple[str, ...]


def drafted(
    feed: Feed,
    address: Address,
    found: Sample,
    evidence: Evidence,
    proposal: Proposal,
) -> Draft:
    """The feed file by all that was found."""
    windows = found.windows
    marks = evidence.lines() or ["--format alone: no record of the sample has one of its marks"]
    lines = [f"format {feed.format}", *(f"  {one}" for one in marks)]
    size, why = ("hour", "by the records' timestamps")
    if windows is not None:
        size, why = windows.size, windows.why
    else:
        lines.append(f"window {size}: {why}")
    lines += [f"table {one.name}: {one.says}" for one in proposal.found]
    head = [
        f"Feed {feed.name}: written by `weir onboard` from a sample. Look at all that is called a guess.",
        f"Recognised by {'; '.join(marks)}",
    ]

    written = [*_written(found, feed)]
    lines += [f"{one.name}: {one.comment}" for one in _leaves(written)]

    def text(landing: str) -> str:
        entries = [Entry("format", feed.format), Entry("landing", landing)]
        if feed.files is not None and not feed.reads_topics:
            entries.append(Entry("files", feed.files, "the objects that are drops"))
        entries.append(Entry("window", size, why))
        if windows is not None and windows.window_path is not None:
            part = "the part of a path that says its window"
            entries.append(Entry("window_path", windows.window_path, part))
        return file_text(_wrapped(head), [*entries, *written, *proposal.entries])

    return Draft(feed.name, text(address.written), text(address.landing), tuple(lines))


def _written(found: Sample, feed: Feed) -> Iterator[Entry]:
    """The keys that say how the files are written, where that is not as usual."""
    if found.encoding is not None:
        yield from found.encoding.entries()
    if found.dialect is not None and FORMATS[feed.format].reads_csv:
        yield from found.dialect.entries()


def _leaves(entries: Iterable[Entry], above: str = "") -> Iterator[Entry]:
    for one in entries:
        name = f"{above}{one.name}"
        parts = [part for part in one.value if isinstance(part, Entry)]
        if parts:
            yield from _leaves(parts, f"{name}.")
        else:
            yield replace(one, name=f"{name} {yaml_scalar(str(one.value))}")


def _wrapped(head: Sequence[str]) -> list[str]:
    return [part for line in head for part in textwrap.wrap(line, 116, break_on_hyphens=False)]


def refuse_existing(file: Path) -> None:
    """Refuse to write over a feed file."""
    for one in (file, file.with_suffix(".yml")):
        if one.exists():
            remedy = "give the feed another name with --name, write over it with --force, or look at the proposal"
            fault = f"there is one already: {remedy} with --print"
            raise FeedMisdeclared(str(one), "the feed file", fault)


def write_feed_file(file: Path, text: str) -> None:
    """Write the feed file; its folder is made where there is none."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        fault = f"cannot be written: {error.strerror}"
        raise FeedMisdeclared(str(file), "the feed file", fault) from error


def loaded_draft(draft: Draft) -> Feed:
    """The feed that the proposal declares, as `weir run` would read it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{draft.name}.yaml"
        file.write_text(draft.absolute, encoding="utf-8")
        return load_feed(file)


# What is shown: the landing's windows, and a preview of gold.


_MOST_RULES: Final = 5
_BY_TIME: Final = (
    "by when an object was last modified, as its path has no date that is known (the key window_path of the feed file"
    " can name the place of one)"
)
_MOST_ROWS: Final = 5
_MOST_TABLES: Final = 20
_MOST_COLUMNS: Final = 8
_WIDEST: Final = 24


def windows_in_words(found: LandingWindows) -> Iterator[str]:
    """How many windows there are, and a line for each part of the paths that says them, with an object."""
    if not found.names:
        return
    first, last = found.names[0], found.names[-1]
    span = first if first == last else f"{first} to {last}"
    yield f"{counted(len(found.names), 'window')} of one {found.size}, {span}:"
    for rule in found.rules[:_MOST_RULES]:
        by = f"by {rule.shape} in the path" if rule.shape else _BY_TIME
        counts = f"{counted(rule.windows, 'window')}, {counted(rule.objects, 'object')}"
        yield f"  {by}: {counts}; {rule.example} is of {rule.window}"
    if more := found.rules[_MOST_RULES:]:
        yield f"  and {counted(sum(one.objects for one in more), 'object')} by {len(more)} other ways"


def show_preview(feed: Feed, found: Preview, *, to_stdout: bool) -> None:
    """Print the preview; to standard error, where standard output has the feed file."""
    sheet = Sheet() if to_stdout else Sheet.of_progress()
    line = sheet.line
    counts = found.counts
    line("")
    line(
        f"Preview of gold, from {counted(found.records, 'record')} of the sample: {counts['events']:,} events"
        f" = {counts['changes']:,} changes + {counts['duplicates']:,} duplicates"
        f" + {counts['quarantined']:,} quarantined + {counts['control'] + counts['held']:,} other."
    )
    for table in found.tables[:_MOST_TABLES]:
        line("")
        deleted = f", {table.deleted:,} deleted" if table.deleted else ""
        line(f"gold.{feed.name}.{table.name}: {counted(table.rows.num_rows, 'row')}{deleted}")
        if table.rows.num_rows:
            sheet.grid(preview_grid(table))
    if len(found.tables) > _MOST_TABLES:
        line(f"and {len(found.tables) - _MOST_TABLES} more tables")
    if not found.tables:
        line("No gold table would come of it.")
    line("")
    for reason in found.quarantined:
        line(
            f"quarantine: {reason.count:,} {reason.reason}, the first {reason.source_location}: {reason.detail}"
        )
    for name, count in sorted(found.waiting.items()):
        line(f"waiting: {counted(count, 'change')} of {name}, which is not declared")
    for sentence in found.stopped:
        line(f"stopped: {sentence}")
    for word, count in sorted(found.warnings.items()):
        line(f"noticed: {word} {count:,}")


def preview_grid(table: PreviewTable) -> Grid:
    """The first rows and columns of a table."""
    shown = Grid()
    names = table.rows.column_names
    for name in names[:_MOST_COLUMNS]:
        shown.column(name, "anywhere")
    if len(names) > _MOST_COLUMNS:
        shown.column(f"and {len(names) - _MOST_COLUMNS} more", "between words")
    for row in table.rows.slice(0, _MOST_ROWS).to_pylist(maps_as_pydicts="strict"):
        cells = [_text(row[name]) for name in names[:_MOST_COLUMNS]]
        shown.row(*cells, *(["…"] if len(names) > _MOST_COLUMNS else []))
    if table.rows.num_rows > _MOST_ROWS:
        shown.row("…")
    return shown


def _text(value: object) -> str:
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    text = "" if value is None else str(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
