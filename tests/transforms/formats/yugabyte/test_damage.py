"""Whatever stands in a response, in either form: a fault, and never a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from orchestration.feeds.load import load_feed
from transforms.event import Event
from transforms.formats import FORMATS
from transforms.record import BronzeRecord

CASES = Path(__file__).resolve().parents[3] / "cases"
TRIALS = 3_000

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, 2**64, 10**30, 1.5, "", "x", "0", "17", "ü", "\\x", "AA=="),
    *([], {}, [None], [[]], [{}], {"Value": {}}, {"Datum": []}, {"": None}, {"elems": [5]}),
    *(["a", {"b": 1}], {"column_name": ["a"]}, {"name": {"a": 1}}, {"term": [1], "index": {}}),
)


def documents(form: str) -> list[Any]:
    """The responses of the form's golden cases."""
    found = []
    for file in sorted((CASES / form).glob("*/drop/**/*.jsonl")):
        for line in file.read_bytes().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place within a document: what holds it, and its name or number there."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def strange(rng: Random) -> Any:
    return deepcopy(rng.choice(STRANGE))


def damaged(rng: Random, document: Any) -> Any:
    """The document with a few places changed, left out or doubled."""
    changed = deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        every = list(places(changed)) if isinstance(changed, dict | list) else []
        if not every:
            return strange(rng)
        holder, key = rng.choice(every)
        how = rng.random()
        if how < 0.2:
            del holder[key]
        elif how < 0.3 and isinstance(holder, list):
            holder.append(deepcopy(holder[key]))
        else:
            holder[key] = strange(rng)
    return changed


@pytest.mark.parametrize("form", ["yugabyte", "yugabyte_xcluster"])
def test_every_damaged_document_gives_events_or_faults(form: str) -> None:
    feed = load_feed(CASES / form / "feed" / "golden.yaml")
    found = FORMATS[form]
    decode = found.decoder(feed, {})
    survey = None if found.surveyor is None else found.surveyor(feed)
    rng, known, faults = Random(form), documents(form), 0
    for _ in range(TRIALS):
        payload = json.dumps(damaged(rng, rng.choice(known))).encode()
        record = BronzeRecord("w", "region/tablet=t1/a", "g", 1, 0, None, payload, None, 0)
        events = list(decode(record))
        assert events
        for event in events:
            assert isinstance(event, Event)
            faults += event.fault is not None
            check(event)
        facts = [] if survey is None else list(survey(record))
        assert all(isinstance(hash(fact), int) for fact in facts)
        if facts:
            list(found.decoder(feed, {"w": frozenset(facts)})(record))
    assert faults > TRIALS / 5


def check(event: Event) -> None:
    """The event has the types that everything after it counts on."""
    for image in (event.before, event.after, event.scope or {}):
        assert all(type(name) is str for name in image)
        assert all(type(value) in (str, bytes, type(None)) for value in image.values())
    for text in (event.name, event.schema, event.stream, event.operation):
        assert type(text) in (str, type(None))
    assert all(type(part) in (str, type(None)) for part in event.identity)
    if event.fault is None:
        assert event.log_position is not None
        assert all(type(number) is int for number in event.log_position)
        assert all(
            -(2**63) <= number < 2**63 for number in event.log_position if number is not None
        )
    else:
        assert len(event.fault.detail) < 1_000
    if event.stream_schema is not None:
        assert all(type(name) is str for name, _ in event.stream_schema.columns)
