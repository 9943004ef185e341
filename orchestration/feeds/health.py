"""The source behind a feed: where it is (``source``), and from where on it counts as ill (``health``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from assets.source.database import KNOWN, PREFIX, is_source
from orchestration.feeds.faults import InvalidKey
from orchestration.feeds.keys import DeclaredFeed, DeclaredHealth
from transforms.addresses import has_credentials
from transforms.feed.feed import HealthLimits, Limit

_LENGTH: Final = re.compile(r"([1-9]\d{0,5})([smhd])", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SIZE: Final = re.compile(r"([1-9]\d{0,14})([kmgt]?)b?", re.ASCII | re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_NUMBER: Final = re.compile(r"\d{1,15}", re.ASCII)


def _seconds(text: str) -> float | None:
    found = _LENGTH.fullmatch(text)
    return int(found[1]) * _SECONDS[found[2]] if found else None


def _bytes(text: str) -> float | None:
    found = _SIZE.fullmatch(text)
    return int(found[1]) << _POWERS[found[2].lower()] if found else None


def _records(text: str) -> float | None:
    return int(text) if _NUMBER.fullmatch(text) else None


class _Kind(NamedTuple):
    """What a limit is written in: how a text is read, what one is called, and what it looks like."""

    read: Callable[[str], float | None]
    noun: str
    example: str


_LENGTHS: Final = _Kind(_seconds, "length of time", "30s, 15m, 1h or 2d")
_SIZES: Final = _Kind(_bytes, "size", "512MB or 1GB")
_RECORDS: Final = _Kind(_records, "whole number", "100000")

_KINDS: Final = {
    **dict.fromkeys(("newest_event", "silent_table", "heartbeat"), _LENGTHS),
    "unread_records": _RECORDS,
    **dict.fromkeys(("slot_lag", "wal_kept", "wal_left", "binlog_lag"), _SIZES),
}
"""The limits by their keys."""

_IN_POSTGRES: Final = ("slot", "slot_lag", "wal_kept", "wal_left")

_LEAST: Final = frozenset({"wal_left"})
"""Those of what is left, which are passed downwards."""


def health_from(declared: DeclaredFeed) -> HealthLimits:
    """The limits of a feed file.

    Raises:
        InvalidKey: one is no quantity of its kind, or is for another kind of landing.
    """
    given = declared.health
    for path, limits in (("health", given), ("health.fail", given.fail)):
        if limits.unread_records is not None and not declared.landing.startswith("kafka:"):
            fault = "is for topics, and this landing is none"
            raise InvalidKey(f"{path}.unread_records", fault)
    if declared.automation.health == "on" and declared.source is None and given == DeclaredHealth():
        fault = (
            "is on, and nothing says what is to be watched: declare a limit under health, or source"
        )
        raise InvalidKey("automation.health", fault)
    if declared.automation.reconcile == "on" and declared.source is None:
        fault = "is on, and nothing says what gold is to be compared with: declare source"
        raise InvalidKey("automation.reconcile", fault)
    in_database = (*_IN_POSTGRES, "binlog_lag")
    for key in in_database:
        for path, limits in (("health", given), ("health.fail", given.fail)):
            if getattr(limits, key, None) is not None and declared.source is None:
                fault = "is asked of the database: say where that is with source"
                raise InvalidKey(f"{path}.{key}", fault)
    if given.quiet_tables and given.silent_table is None and given.fail.silent_table is None:
        raise InvalidKey("health.quiet_tables", "has no effect without silent_table")
    for name in given.quiet_tables:
        if declared.tables and name not in declared.tables:
            known = sorted(declared.tables)
            raise InvalidKey("health.quiet_tables", f"{name!r} is no table of the file", known)
    return HealthLimits(
        **{key: _limit(key, given) for key in _KINDS},
        quiet_tables=frozenset(given.quiet_tables),
        slot=given.slot,
    )


def source_from(declared: str | None) -> str | None:
    """The address of the source's database; no credentials are in it."""
    if declared is None or is_source(declared):
        return declared
    if has_credentials(declared) or "@" in declared:
        # Not quoted, nor any part of it.
        fault = "has credentials in it, and secrets never stand in a feed file"
        remedy = f"set {PREFIX}_USERNAME and {PREFIX}_PASSWORD"
        raise InvalidKey("source", f"{fault}: write {KNOWN}, and {remedy}")
    raise InvalidKey("source", f"{declared!r} is not {KNOWN}")


def _limit(key: str, given: DeclaredHealth) -> Limit | None:
    texts: tuple[str | None, str | None] = getattr(given, key), getattr(given.fail, key)
    warn, fail = (
        None if text is None else _quantity(f"{path}.{key}", text, _KINDS[key])
        for path, text in zip(("health", "health.fail"), texts, strict=True)
    )
    if warn is not None and fail is not None and (fail >= warn if key in _LEAST else fail <= warn):
        than = "less" if key in _LEAST else "more"
        fault = f"{texts[1]!r} is not {than} than {texts[0]}, which warns: a warning comes first"
        raise InvalidKey(f"health.fail.{key}", fault)
    return None if warn is None and fail is None else Limit(warn, fail)


def _quantity(name: str, text: str, kind: _Kind) -> float:
    found = kind.read(text)
    if found is None:
        raise InvalidKey(name, f"{text!r} is no {kind.noun}: write {kind.example}")
    return found
