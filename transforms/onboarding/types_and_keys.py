"""What the values and changes of a sample say of its columns: their types, their encodings, and the key.

A value that does not fit its type goes to quarantine, so the wider type is taken where both are likely. No value is
quoted in the evidence: feed files are kept with code, and values may be secrets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from transforms.column_types import encodings, times
from transforms.column_types.numbers import BASE64
from transforms.column_types.registry import column_type
from transforms.column_types.times import DAYS, SINCE_1970
from transforms.event import Image, Value

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_POINT: Final = re.compile(r"-?([0-9]+)\.([0-9]+)")
_FLOAT: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*")
_TRUTH: Final = frozenset({"true", "false"})
_PRECISIONS: Final = (10, 18, 28, 38)
_SPARE: Final = 4
"""How many more digits before the point than the sample has should fit."""

_SMALL: Final = 10**6


class Inferred(NamedTuple):
    """A type, and what of the sample speaks for it; ``encoding``: how its values seem to be written otherwise."""

    type: str
    evidence: str
    encoding: str = ""


def inferred_type(values: Collection[Value], *, may_grow: bool = False) -> Inferred:
    """The type that all of these values fit; ``may_grow``: whole numbers may become large, as those of keys do."""
    given = [one for one in values if one is not None]
    if not given:
        return Inferred("string", "no value in the sample: a guess")
    if any(isinstance(one, bytes) for one in given):
        return Inferred("binary", "bytes")
    texts = [one for one in given if isinstance(one, str)]
    for infer in (_truth, _whole, _decimal, _number, _day, _moment):
        if (found := infer(texts)) is not None:
            if found.type == "int" and (may_grow or max(abs(int(one)) for one in texts) >= _SMALL):
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
        if all(column_type(kind).judge(text) is not None for text in texts):
            return Inferred(kind, evidence)
    return Inferred("decimal(38,0)", evidence) if digits <= max(_PRECISIONS) else None


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
    judge = column_type("date").judge
    if all(_DATE.fullmatch(text) and judge(text) is not None for text in texts):
        return Inferred("date", "dates")
    return None


def _moment(texts: Collection[str]) -> Inferred | None:
    judge = column_type("timestamp").judge
    if not all(_MOMENT.fullmatch(text) and judge(text) is not None for text in texts):
        return None
    is_zoned = all(re.search(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$", text) for text in texts)
    return Inferred("timestamp", "moments" if is_zoned else "moments without a zone, taken as UTC")


# Columns whose values seem to be counts of time, or decimals in base64, where no schema says so: so Debezium writes by
# default. A column becomes a time or a decimal only where its name speaks for it, too, and it is called a guess.


_MOMENT_NAME: Final = re.compile(
    r"(?:.*_)?(?:at|on|ts|time|timestamp|date|datetime|created|updated|modified)"
)
_DAY_NAME: Final = re.compile(r"(?:.*_)?(?:on|at|date|day|born|birth|birthday)")
_CLOCK_NAME: Final = re.compile(r"(?:.*_)?(?:at|time|clock|opens|closes)")
_MONEY_NAME: Final = re.compile(
    r"(?:.*_)?(?:amount|price|total|subtotal|sum|cost|fee|tax|vat|net|gross|balance|credit|debit|discount|salary|pay"
    r"|rate|weight)(?:_[a-z]{3})?"
)
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ID: Final = re.compile(r"(?:.*_)?u?u?id")
_USUAL_SCALE: Final = 2
_MOST_WORDS: Final = 4
"""One text in so many may happen to look like a word."""
_MILLIS_OF_DAY, _MICROS_OF_DAY = 86_400_000, 86_400_000_000
_UNSAID: Final = "a guess: nothing in the drops says it"


def refined_type(column: str, texts: Collection[str], found: Inferred) -> Inferred:
    """What a column may be by its name, too, and not by its values alone; ``found`` where nothing speaks for more."""
    name = _CAPITAL.sub("_", column).lower()
    if _ID.fullmatch(name):
        return found
    if found.type in ("int", "bigint") and texts:
        numbers = sorted(int(text) for text in texts)
        return _count(name, numbers, found)
    if found.type == "string" and texts:
        return _variable_decimal(texts) or _base64_decimal(name, texts) or found
    return found


def _count(name: str, numbers: Sequence[int], found: Inferred) -> Inferred:
    least, most = numbers[0], numbers[-1]
    if _DAY_NAME.fullmatch(name) and encodings.is_recent(least, most, DAYS):
        years = _years(times.day_text(least), times.day_text(most))
        return Inferred(
            "date", f"{_UNSAID}. Whole numbers that may be days since 1970, {years}", DAYS
        )
    unit = encodings.unit_of(least, most)
    if unit is not None:
        years = _years(*(times.moment_text(one, SINCE_1970[unit]) for one in (least, most)))
        seen = f"hole numbers that may be {encodings.spoken(unit)} since 1970, {years}"
        if _MOMENT_NAME.fullmatch(name):
            return Inferred("timestamp", f"{_UNSAID}. W{seen}", unit)
        if unit != "seconds":
            # Too many numbers are as large as these.
            return Inferred(
                found.type, f"w{seen}: if they are, declare timestamp, and {unit} under encoded"
            )
    if _CLOCK_NAME.fullmatch(name) and least >= 0 and _MILLIS_OF_DAY < most < _MICROS_OF_DAY:
        seen = "Whole numbers that may be microseconds since midnight"
        return Inferred("string", f"{_UNSAID}. {seen}; a time of day is a text", "micros_of_day")
    return found


def _years(first: str | None, last: str | None) -> str:
    years = sorted({(text or "")[:4] for text in (first, last)})
    return f"of {' to '.join(years)}"


def _base64_decimal(name: str, texts: Collection[str]) -> Inferred | None:
    """A column of texts that are all base64 of a number of few bytes."""
    if not all(encodings.is_unscaled(text) for text in texts):
        return None
    raw = [encodings.unscaled(text) or b"" for text in texts]
    sizes = {len(one) for one in raw}
    words = sum(encodings.is_word(text) for text in texts)
    # Codes and hexadecimal digits are mostly of one case.
    is_mixed = any(not text.isupper() and not text.islower() for text in texts)
    is_named = _MONEY_NAME.fullmatch(name) is not None and is_mixed
    # Hardly a word ends in a sign of equality.
    is_padded = any(text.endswith("=") for text in texts)
    is_text = all(one.isascii() and one.decode("ascii").isprintable() for one in raw)
    is_varied = len(sizes) > 1 and is_padded and not is_text
    if words * _MOST_WORDS > len(texts) or not (is_named or is_varied):
        return None
    digits = max(len(str(abs(int.from_bytes(one, "big", signed=True)))) for one in raw)
    kind = decimal_type(max(1, digits - _USUAL_SCALE), _USUAL_SCALE)
    if kind is None:
        return None
    size = f"{min(sizes)} to {max(sizes)} bytes" if len(sizes) > 1 else f"{max(sizes)} bytes"
    seen = f"Texts that may be decimals in base64, {size} each, as Debezium writes them by default"
    why = f"{_UNSAID}. {seen}. They do not say how many digits stand behind the point: look it up in the source"
    return Inferred(kind, why, f"{BASE64}({_USUAL_SCALE})")


def _variable_decimal(texts: Collection[str]) -> Inferred | None:
    """A column of objects that each bring their scale: Debezium's VariableScaleDecimal."""
    scales, digits = set[int](), set[int]()
    for text in texts:
        found = encodings.variable(text)
        if found is None:
            return None
        raw, scale = found
        scales.add(scale)
        digits.add(len(str(abs(int.from_bytes(raw, "big", signed=True)))) - scale)
    kind = decimal_type(max(1, *digits), max(0, *scales))
    seen = "objects with scale and value, as Debezium's VariableScaleDecimal"
    return None if kind is None else Inferred(kind, seen, BASE64)


# The key, by the changes that a sample has of a table.

_MOST_COLUMNS: Final = 3
_SELDOM: Final = 4
_SURELY_NAMED: Final = 0
_MOST_TRIED: Final = 12
"""Of wide tables only the first columns are tried together."""


class SampledChange(NamedTuple):
    """One change of a table in the sample, each event once: what it did, and its images."""

    operation: str
    before: Image
    after: Image


class SampledKey(NamedTuple):
    """The key's columns, none where nothing tells rows apart; ``is_said``: the drop itself tells, so it is no guess."""

    columns: tuple[str, ...]
    is_said: bool
    evidence: str


def sampled_key(columns: Sequence[str], changes: Sequence[SampledChange]) -> SampledKey:
    """The key by what deletes and updates mention, else by which columns have no value twice."""
    by_deletes = _of_deletes(columns, changes)
    if by_deletes is not None:
        return by_deletes
    inserted = _inserted(changes)
    everywhere = [name for name in columns if all(_has(name, one) for one in changes)]
    steady = [name for name in everywhere if _seldom_changes(name, changes)]
    for names in _candidates(steady):
        if _tells_apart(names, changes):
            return SampledKey(names, False, _evidence(names, inserted, changes))
    best = min(steady, key=lambda name: _rank(name, steady), default=None)
    if best is not None and not inserted:
        return SampledKey((best,), False, "a guess by its name: no row is inserted here")
    if best is not None and _rank(best, steady)[0] == _SURELY_NAMED:
        why = "a guess by its name, although several rows of the sample have the same"
        return SampledKey((best,), False, why)
    return SampledKey((), False, "no column tells the rows of the sample apart")


def _of_deletes(columns: Sequence[str], changes: Sequence[SampledChange]) -> SampledKey | None:
    """The columns that every delete mentions, where they are fewer than the table's: a source sends the key alone."""
    deletes = [one for one in changes if one.operation == "delete"]
    mentioned = {
        tuple(name for name in columns if one.before.get(name) is not None) for one in deletes
    }
    updates = [one for one in changes if one.operation == "update" and one.before]
    if not deletes:
        # Updates of such a source have nothing but the key of the old row.
        mentioned = {
            tuple(name for name in columns if one.before.get(name) is not None) for one in updates
        }
        deletes = updates
    if len(mentioned) != 1:
        return None
    (names,) = mentioned
    whole = max((len(one.after) for one in changes), default=0)
    if not names or len(names) >= whole or len(names) > _MOST_COLUMNS:
        return None
    what = "deletes" if deletes[0].operation == "delete" else "old images of updates"
    return SampledKey(names, True, f"the {what} have no other column")


def _has(name: str, change: SampledChange) -> bool:
    return change.after.get(name) is not None or change.before.get(name) is not None


def _inserted(changes: Sequence[SampledChange]) -> list[Image]:
    return [one.after for one in changes if one.operation in ("insert", "read") and one.after]


def _moves(names: Sequence[str], changes: Sequence[SampledChange]) -> list[SampledChange]:
    return [
        one
        for one in changes
        if one.operation == "update"
        and any(
            name in one.before and name in one.after and one.before[name] != one.after[name]
            for name in names
        )
    ]


def _seldom_changes(name: str, changes: Sequence[SampledChange]) -> bool:
    """Whether hardly an update changes it: of keys, too, one may be corrected."""
    updates = sum(one.operation == "update" for one in changes)
    return len(_moves([name], changes)) * _SELDOM <= updates


def _candidates(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What may be a key, the likeliest first: one column before several."""
    ranked = sorted(names, key=lambda name: _rank(name, names))[:_MOST_TRIED]
    for count in range(1, _MOST_COLUMNS + 1):
        yield from combinations(ranked, count)


def _rank(name: str, names: Sequence[str]) -> tuple[int, int]:
    """By its name, then by where it stands: keys are called so, and come first."""
    plain = name.lower()
    if plain in ("id", "_id", "uuid", "key", "pk"):
        return _SURELY_NAMED, names.index(name)
    is_first = names.index(name) == 0
    looks_like_one = plain.endswith(("id", "key", "uuid", "pk", "_no", "number"))
    return 1 if looks_like_one and is_first else 2 if looks_like_one else 3, names.index(name)


def _tells_apart(names: tuple[str, ...], changes: Sequence[SampledChange]) -> bool:
    """Whether no two rows have the same values: one that is inserted again was deleted, or moved, before."""

    def of(image: Image) -> tuple[Value, ...]:
        return tuple(image.get(name) for name in names)

    came = Counter(of(image) for image in _inserted(changes))
    went = Counter(of(one.before) for one in changes if one.operation == "delete")
    went.update(of(one.before) for one in _moves(names, changes))
    return bool(came) and all(count <= 1 + went[value] for value, count in came.items())


def _evidence(
    names: tuple[str, ...], inserted: Sequence[Image], changes: Sequence[SampledChange]
) -> str:
    updates = sum(one.operation == "update" for one in changes)
    moved = len(_moves(names, changes))
    steady = ""
    if updates:
        steady = f", and {f'{moved:,}' if moved else 'none'} of {updates:,} updates changes it"
    if len(inserted) == 1:
        return f"a guess by its name, for the sample has one row{steady}"
    return f"a guess: no two of {len(inserted):,} rows have the same{steady}"
