"""The type that a column seems to have, by the values that a sample has of it.

A value that does not fit its type goes to quarantine, so the wider type is taken where both are likely. No value is
quoted in the evidence: feed files are kept with code, and values may be secrets. Put here how a type is inferred. Not
here: what a stream says of types itself (``tables_seen``), and judging values (``transforms/types``).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from transforms.event import Value
from transforms.types import judge_of

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_POINT: Final = re.compile(r"-?([0-9]+)\.([0-9]+)")
_FLOAT: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*")
_TRUTH: Final = frozenset({"true", "false"})
_PRECISIONS: Final = (10, 18, 28, 38)
_SPARE: Final = 4
"""So many more digits before the point than the sample has should fit."""

_SMALL: Final = 10**6


class Inferred(NamedTuple):
    """A type, and what of the sample speaks for it; ``encoding``: how its values seem to be written otherwise."""

    type: str
    evidence: str
    encoding: str = ""


def inferred(values: Collection[Value], *, may_grow: bool = False) -> Inferred:
    """The type that all of these values fit; ``may_grow``: whole numbers may become large, as those of keys do."""
    given = [one for one in values if one is not None]
    if not given:
        return Inferred("string", "no value in the sample: a guess")
    if any(isinstance(one, bytes) for one in given):
        return Inferred("binary", "bytes")
    texts = [one for one in given if isinstance(one, str)]
    for infer in (_truth, _whole, _decimal, _number, _day, _moment):
        if (found := infer(texts)) is not None:
            if found.type == "int" and (may_grow or _largest(texts) >= _SMALL):
                return Inferred("bigint", found.evidence)
            return found
    longest = max(map(len, texts))
    numbers = sum(_FLOAT.fullmatch(text) is not None for text in texts)
    mostly = f"; {numbers:,} of {len(texts):,} are numbers" if 2 * numbers > len(texts) else ""
    characters = "character" if longest == 1 else "characters"
    return Inferred("string", f"texts of at most {longest:,} {characters}{mostly}")


def _truth(texts: Collection[str]) -> Inferred | None:
    if not _TRUTH.issuperset(text.lower() for text in texts):
        return None
    return Inferred("boolean", "true and false")


def _whole(texts: Collection[str]) -> Inferred | None:
    if not all(_WHOLE.fullmatch(text) for text in texts):
        return None
    digits = max(len(text.lstrip("-")) for text in texts)
    evidence = f"whole numbers of at most {digits} digits" if digits > 1 else "whole numbers"
    for kind in ("int", "bigint"):
        if all(judge_of(kind)(text) is not None for text in texts):
            return Inferred(kind, evidence)
    return Inferred("decimal(38,0)", evidence) if digits <= max(_PRECISIONS) else None


def _largest(texts: Collection[str]) -> int:
    return max(abs(int(text)) for text in texts)


def _decimal(texts: Collection[str]) -> Inferred | None:
    """Numbers that all have as many digits behind the point: so databases write decimals."""
    found = [_POINT.fullmatch(text) for text in texts]
    scales = {len(one[2]) for one in found if one is not None}
    if None in found or len(scales) != 1:
        return None
    scale = min(scales)
    digits = max(len(one[1]) for one in found if one is not None)
    kind = decimal_type(digits, scale)
    evidence = f"{digits} digits before the point at most, always {scale} behind it"
    return None if kind is None else Inferred(kind, evidence)


def decimal_type(digits: int, scale: int) -> str | None:
    """The decimal with room for so many digits before the point and some more; None where there is none."""
    for precision in _PRECISIONS:
        if precision >= digits + scale + min(_SPARE, max(_PRECISIONS) - digits - scale):
            return f"decimal({precision},{scale})"
    return None


def _number(texts: Collection[str]) -> Inferred | None:
    if not all(_FLOAT.fullmatch(text) for text in texts):
        return None
    # A zero in front is no number's: 007 is a name.
    if any(re.match(r"-?0[0-9]", text) for text in texts):
        return None
    return Inferred("double", "numbers, not all with as many digits behind the point")


def _day(texts: Collection[str]) -> Inferred | None:
    judge = judge_of("date")
    if all(_DATE.fullmatch(text) and judge(text) is not None for text in texts):
        return Inferred("date", "dates")
    return None


def _moment(texts: Collection[str]) -> Inferred | None:
    judge = judge_of("timestamp")
    if not all(_MOMENT.fullmatch(text) and judge(text) is not None for text in texts):
        return None
    is_zoned = all(re.search(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$", text) for text in texts)
    return Inferred("timestamp", "moments" if is_zoned else "moments without a zone, taken as UTC")
