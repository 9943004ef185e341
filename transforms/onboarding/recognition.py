"""Which format a sample's records are in, by the marks of each; and the events that it makes of them."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from transforms.errors import FormatUnclear
from transforms.event import Pending
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.onboarding.proposal import Proposal, Sampled, first_of
from transforms.onboarding.tables import proposal_of_events
from transforms.record import BronzeRecord

_RIVAL: Final = 4
"""A format that so many times fewer records speak for is no rival."""


@dataclass(slots=True)
class Evidence:
    """What speaks for one format: its marks, with how many records of which objects have them.

    ``elsewhere``: sentences on other objects of the sample, which may be of another format.
    """

    format: str
    records: int = 0
    marks: Counter[str] = field(default_factory=Counter)
    sure: int = 0
    objects: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    elsewhere: tuple[str, ...] = ()

    def add(self, feed: Feed, name: str, records: Sequence[BronzeRecord]) -> None:
        """Look for the format's marks in the records of one object."""
        recognise = FORMATS[self.format].recognise
        if recognise is None:
            return
        for record in records:
            self.records += 1
            mark = recognise(feed, record)
            if mark is not None:
                self.marks[mark.says] += 1
                self.sure += mark.is_sure
                self.objects[name][mark.says] += 1

    def lines(self) -> list[str]:
        """A sentence on each mark."""
        found = []
        for says, count in self.marks.most_common():
            objects = [name for name, marks in self.objects.items() if marks[says]]
            found.append(f"{says}: {count:,} of {self.records:,} records ({first_of(objects)})")
        return found


def recognised(landing: str, every: Mapping[str, Evidence], seen: str) -> Evidence:
    """The one format that the evidence speaks for; ``seen``: what the sample looks like, where it is of none.

    Raises:
        FormatUnclear: it is none, or several are as likely.
    """
    any_sure = any(one.sure for one in every.values())
    likely = [one for one in every.values() if (one.sure if any_sure else one.marks.total())]
    if not likely:
        raise FormatUnclear(
            landing,
            f"the drops are of no format that Weir recognises; {seen}",
            (),
            f"Known: {', '.join(sorted(FORMATS))}. If it is one of them, say so with --format.",
        )
    weight = {one.format: one.sure if any_sure else one.marks.total() for one in likely}
    likely.sort(key=lambda one: (-weight[one.format], one.format))
    best, *others = likely
    names = [one.format for one in likely]
    if any(one.objects.keys().isdisjoint(best.objects) for one in others):
        where = [f"{one.format}: {first_of(one.objects)}" for one in likely]
        raise FormatUnclear(
            landing,
            f"drops of several formats lie here ({'; '.join(where)})",
            names,
            "Write a feed for each: name its objects with --files, or a folder or topic that has them alone.",
        )
    # A record that was cut short, say, may look like another format's.
    rivals = [one for one in others if _RIVAL * weight[one.format] >= weight[best.format]]
    if not rivals:
        best.elsewhere = tuple(_elsewhere(best, every))
        return best
    marks = "; ".join(f"{one.format}: {', '.join(one.lines())}" for one in (best, *rivals))
    raise FormatUnclear(
        landing,
        f"several formats fit ({marks})",
        names,
        f"Say which it is: --format {best.format}, for one.",
    )


def nearest_in_words(payloads: Iterable[bytes]) -> str | None:
    """The format that JSON documents of none have most in common with, and what differs; None where nothing is near."""
    documents = [one for one in map(_object, payloads) if one]
    if not documents:
        return None
    top = dict.fromkeys(name for one in documents for name in one)
    inside = [one for document in documents for one in document.values() if type(one) is dict]
    known = {_plain(name): name for name in [*(name for one in inside for name in one), *top]}
    near = max(
        (one for one in FORMATS.values() if one.fields),
        key=lambda one: len({*map(_plain, one.fields)} & known.keys()) / len(one.fields),
    )
    common = [name for name in near.fields if _plain(name) in known]
    if len(common) < _LEAST_IN_COMMON:
        nested = first_of(
            name for name in top if any(type(one.get(name)) in (dict, list) for one in documents)
        )
        return (
            "the nearest is a row without an envelope (arcion_s3_json), an object of columns with plain values: these"
            f" have objects or lists in {nested}"
        )
    other = [f"{known[_plain(name)]} for {name}" for name in common if known[_plain(name)] != name]
    missing = [name for name in near.fields if name not in common]
    rest = [name for name in top if _plain(name) not in {*map(_plain, near.fields)}]
    says = [f"they have {', '.join(common)}"]
    says += [f"written {', '.join(other)}"] if other else []
    says += [f"no {', '.join(missing)}"] if missing else []
    says += [f"and {first_of(rest)} beside"] if rest else []
    return f"the nearest is {near.name}: of its fields {'; '.join(says)}"


_LEAST_IN_COMMON: Final = 2


def _plain(name: str) -> str:
    return re.sub(r"[_-]", "", name).lower()


def _object(payload: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return found if type(found) is dict else None


def _elsewhere(best: Evidence, every: Mapping[str, Evidence]) -> Iterator[str]:
    """What other objects may be: each is named once, by the format that most of its records speak for."""
    others: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(name for one in every.values() for name in one.objects):
        if name not in best.objects:
            by_weight = {
                one.format: one.objects[name].total()
                for one in every.values()
                if name in one.objects
            }
            others[max(by_weight, key=lambda key: by_weight[key])].append(name)
    for format_name, names in others.items():
        may_be = f"{first_of(names)} may be of format {format_name}"
        yield f"{may_be}: onboard such objects apart, with --files."


def proposal_of_records(feed: Feed, records: Sequence[BronzeRecord]) -> Proposal:
    """What a feed of the format should declare, by these records."""
    propose = FORMATS[feed.format].propose or proposal_of_events
    return propose(feed, sample_events(feed, records))


def sample_events(feed: Feed, records: Sequence[BronzeRecord]) -> list[Sampled]:
    """The records with their events; those that wait for others are resolved by the whole sample."""
    source = FORMATS[feed.format]
    decode = source.decoder(feed, surveyed_records(feed, records))
    found: list[Sampled] = []
    groups: dict[tuple[object, ...], list[tuple[BronzeRecord, Pending]]] = {}
    for record in records:
        for one in decode(record):
            if isinstance(one, Pending):
                groups.setdefault((record.window, *one.group), []).append((record, one))
            else:
                found.append((record, one))
    if source.resolver is not None:
        resolve = source.resolver(feed)
        for waiting in groups.values():
            waiting.sort(key=lambda pair: pair[1].order)
            events = resolve([one.content for _, one in waiting])
            found += zip([record for record, _ in waiting], events, strict=True)
    return found


def surveyed_records(
    feed: Feed, records: Sequence[BronzeRecord]
) -> dict[str, frozenset[tuple[object, ...]]]:
    """By window, what the format's survey collects of these records."""
    source = FORMATS[feed.format]
    if source.surveyor is None:
        return {}
    survey = source.surveyor(feed)
    facts: dict[str, set[tuple[object, ...]]] = {}
    for record in records:
        if any(mark in (record.payload or b"") for mark in source.survey_marks):
            facts.setdefault(record.window, set()).update(survey(record))
    return {window: frozenset(some) for window, some in facts.items()}
