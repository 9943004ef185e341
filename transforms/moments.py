"""Moments as silver and the accounts keep them, in microseconds since 1970, and as Python's datetimes in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@overload
def microseconds_of(moment: datetime) -> int: ...
@overload
def microseconds_of(moment: None) -> None: ...
@overload
def microseconds_of(moment: datetime | None) -> int | None: ...
def microseconds_of(moment: datetime | None) -> int | None:
    """Microseconds since 1970 of a datetime that knows its zone; null stays null."""
    return None if moment is None else (moment - _1970) // _MICROSECOND


@overload
def moment_of(microseconds: int) -> datetime: ...
@overload
def moment_of(microseconds: None) -> None: ...
@overload
def moment_of(microseconds: int | None) -> datetime | None: ...
def moment_of(microseconds: int | None) -> datetime | None:
    """The datetime in UTC that is so many microseconds after 1970; null stays null.

    Raises:
        OverflowError: the moment is not within the years 1 to 9999.
    """
    return None if microseconds is None else _1970 + microseconds * _MICROSECOND
