"""``weir onboard``: from drops to a commented feed file and a preview of gold, without a table and without Spark.

Put here the order of the steps, and what the command says of them. Not here: the sample (``assets/onboarding``), what
is recognised and proposed (``transforms/proposing``), the file (``new_file``), and the preview's look (``shown``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assets.onboarding import previewing, recognition
from assets.onboarding.sampling import Sample, refuse_empty, sample
from assets.wording import counted
from orchestration.cli.feed_files import new_file, shown
from orchestration.cli.feed_files.addresses import address_of
from orchestration.console import complain, put_file, say, waiting
from orchestration.feeds.faults import nearest
from transforms.errors import FeedMisdeclared, WeirError
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.proposing.landing_windows import LandingWindows
from transforms.proposing.sample_events import proposed


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
    check_format(request.format_name)
    address = address_of(request.landing, request.files, request.name, request.feeds)
    file = new_file.place_of(request.feeds, address.name)
    if request.writes and not request.force:
        new_file.refuse_existing(file)
    feed = Feed(address.name, "", address.landing, files=address.files or "**")
    with waiting("reading a sample"):
        found = sample(feed, request.objects, lambda what: say(f"  {what}"), say_windows)
    refuse_empty(found)
    say(f"{_read_in_words(found)}; nothing is written but the feed file")
    with waiting("recognising the format"):
        evidence = recognition.recognise(found, request.format_name)
        feed = recognition.feed_of(found, evidence, address.files)
        proposal = proposed(feed, found.records(feed))
    draft = new_file.draft(feed, address, found.windows, evidence, proposal)
    for line in draft.lines:
        say(line)
    for note in (*proposal.notes, *evidence.elsewhere, *not_read(found, feed)):
        say(f"check: {note}")
    return finish(request, file, draft, found)


def check_format(name: str | None) -> None:
    """Refuse a format that there is none of.

    Raises:
        FeedMisdeclared: the name is no format's.
    """
    if name is not None and name not in FORMATS:
        fault = f"{name!r} is not a format{nearest(name, FORMATS)}"
        raise FeedMisdeclared("weir onboard", "--format", fault, sorted(FORMATS))


def say_windows(found: LandingWindows) -> None:
    """Say which windows the landing has, and what each of them is from."""
    for line in shown.windows_in_words(found):
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
    return f"{len(found.objects)} of {more}{objects} read, {found.size:,} bytes in all{part}"


def not_read(found: Sample, feed: Feed) -> Iterator[str]:
    """Sentences on objects in the landing that the feed would leave out."""
    drops = set(found.drops_of(feed))
    names = [name for name in found.names() if name not in drops]
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


def finish(request: Request, file: Path, draft: new_file.Draft, found: Sample) -> int:
    """Write or print the file, and show what a feed with it makes of the sample."""
    if request.writes:
        new_file.write(file, draft.text)
        say(f"wrote {file}")
    else:
        put_file(draft.text)
    try:
        feed = new_file.loaded(draft)
    except WeirError as fault:
        complain(f"the proposal has to be repaired before it can be used: {fault}")
        return 2
    with waiting("making the preview"):
        # Cut again: what a header of CSV is depends on the tables.
        seen = previewing.preview(feed, found.records(feed))
    shown.show(feed, seen, to_stdout=request.writes)
    if not seen.tables:
        say("Nothing of the sample would come to gold: repair what is named above first.")
    say(f"Try next: {next_command(request, feed)}")
    return 0
