"""How the files of a sample are written: their encoding, and the dialect of CSV. Each is a guess with its evidence."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from transforms.errors import WeirError
from transforms.feed.feed import USUAL_CSV, CsvDialect, Feed, Header
from transforms.onboarding.proposal import Entry, first_of
from transforms.onboarding.types_and_keys import inferred_type
from transforms.records import csv_records
from transforms.records.csv_records import Field, fields_of, header_of
from transforms.records.encoding import is_said_by_its_bytes

_LOOKED_AT: Final = 64 << 10
"""Maximum number of bytes of one object that are looked at."""
_MOST_OBJECTS: Final = 10
_MOST: Final = 0.9
"""The share of rows, or of letters, that makes them count as all alike: the rest may be damaged."""


class GuessedEncoding(NamedTuple):
    """The encoding of files that are not UTF-8, with what speaks for it; no ``name`` where nothing does for any."""

    name: str | None
    evidence: str

    def entries(self) -> Iterator[Entry]:
        """The key of the feed file."""
        if self.name is not None:
            yield Entry("encoding", self.name, self.evidence)


@dataclass(frozen=True, slots=True)
class GuessedDialect:
    """How CSV is written, ``why`` by key of the feed file; ``others``: objects that have another delimiter."""

    csv: CsvDialect
    why: Mapping[str, str]
    others: tuple[str, ...] = ()

    def entries(self) -> Iterator[Entry]:
        """The key ``csv`` of the feed file, with what is not as usual."""
        words = {"delimiter": {"\t": "tab"}, "quote": {"": "none"}}
        parts = tuple(
            Entry(key, words.get(key, {}).get(value, value), self.why.get(key, ""))
            for key, name in _KEYS.items()
            for value in [getattr(self.csv, name)]
            if value != getattr(USUAL_CSV, name)
        )
        if parts:
            yield Entry("csv", parts, "how CSV is written: guesses, by the sample")


_KEYS: Final = {
    "delimiter": "delimiter",
    "quote": "quote",
    "escape": "escape",
    "null_word": "null",
    "header": "header",
}


# The encoding. Letters beyond ASCII stand among letters of their own script where a text is read as it was written.


_SCRIPTS: Final = {
    **{name: {"HIRAGANA", "KATAKANA", "CJK"} for name in ("shift_jis", "euc-jp")},
    **{"euc-kr": {"HANGUL"}, "windows-1251": {"CYRILLIC"}},
    **{"windows-1252": {"LATIN"}, "windows-1250": {"LATIN"}},
    **{"gb18030": {"CJK"}, "big5": {"CJK"}},
}
"""What is tried, the likeliest first where several fit, with the scripts of its letters."""
_COMMON: Final = {"shift_jis": 0x98, "euc-jp": 0xD0, "gb18030": 0xD8, "big5": 0xC7}
"""The first byte at which the seldom characters of an encoding begin."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_BINARY: Final = re.compile(rb"[\0\x02-\x08\x0e-\x1f]")
_EBCDIC: Final = "cp037"


def guessed_encoding(texts: Mapping[str, bytes]) -> GuessedEncoding | None:
    """The encoding of these objects, by name, where they are mostly not UTF-8; None where nothing needs to be said."""
    said = {name: text for name, text in texts.items() if not is_said_by_its_bytes(text)}
    wide = {name: kind for name, text in said.items() if (kind := _two_bytes(text[:_LOOKED_AT]))}
    if 2 * len(wide) > len(said):
        ((kind, count),) = Counter(wide.values()).most_common(1)
        seen = f"every other byte of {first_of(wide)} is NUL"
        return GuessedEncoding(kind, seen) if count == len(wide) else None
    lines = [line for text in said.values() for line in _lines(text) if not line.isascii()]
    bad = [one for one in lines if not _is_utf_8(one)]
    if 2 * len(bad) <= len(lines):
        return None
    raw = b"\n".join(bad)
    if _is_ebcdic(raw):
        return GuessedEncoding(
            _EBCDIC, "a guess: read so, all is letters, digits and signs of ASCII"
        )
    if _BINARY.search(raw):
        return None
    fit = [name for name in _SCRIPTS if _share(raw, name) >= _MOST]
    seen = f"{len(bad):,} of {len(lines):,} lines with other letters than ASCII's are no UTF-8"
    if not fit:
        return GuessedEncoding(None, f"{seen}, and nothing shows what they are")
    also = f"; {', '.join(fit[1:])} would fit, too" if fit[1:] else ""
    return GuessedEncoding(fit[0], f"a guess: {seen}{also}")


def _lines(text: bytes) -> list[bytes]:
    """The lines that are looked at; the last of them is left out where it may be half a one."""
    found = text[:_LOOKED_AT].splitlines()
    return found[:-1] if len(text) > _LOOKED_AT else found


def _two_bytes(text: bytes) -> str | None:
    """UTF-16 without a mark, which CSV may be: half of its bytes are mostly NUL."""
    even, odd = (half.count(b"\0") / max(1, len(half)) for half in (text[::2], text[1::2]))
    if min(even, odd) > 0 or max(even, odd) < _MOST / 2:
        return None
    return "utf-16-be" if even else "utf-16-le"


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_ebcdic(raw: bytes) -> bool:
    """Whether a mainframe wrote it: hardly a byte is a letter or digit of ASCII, and as EBCDIC nearly all are signs."""
    if 4 * len(re.findall(rb"[A-Za-z0-9 ]", raw)) > len(raw):
        return False
    text = raw.decode(_EBCDIC)
    return sum(one.isascii() and one.isprintable() for one in text) >= _MOST * len(text)


def _share(raw: bytes, encoding: str) -> float:
    """Which share of the letters beyond ASCII makes sense where the text is read as this encoding."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    words = [one for one in _WORD.findall(text) if not one.isascii()]
    good = sum(not sign.isascii() for one in words if _makes_sense(one, encoding) for sign in one)
    if _SCRIPTS[encoding] == {"LATIN"} and 2 * good > sum(map(len, words)):
        # Words of nearly no letter of ASCII are of no language that Latin letters are enough for.
        return 0.0
    if encoding in ("shift_jis", "euc-jp") and not re.search(r"[\u3041-\u30fa]", text):
        # Japanese without a kana is Chinese.
        return 0.0
    return good / max(1, sum(not one.isascii() and not one.isspace() for one in text))


def _makes_sense(word: str, encoding: str) -> bool:
    scripts = _SCRIPTS[encoding]
    other = [one for one in word if not one.isascii()]
    if not {unicodedata.name(one, "").partition(" ")[0] for one in other} <= scripts:
        return False
    if scripts == {"CYRILLIC"}:
        # Of one script, and no capital behind a small letter.
        return len(other) == len(word) and (word.isupper() or word[1:] == word[1:].lower())
    common = _COMMON.get(encoding)
    return common is None or all(
        one.encode(encoding)[0] < common for one in other if "CJK" in unicodedata.name(one, "")
    )


# The dialect of CSV.


_DELIMITERS: Final = ",;\t|\x01~^"
_QUOTINGS: Final = (('"', "\\"), ("'", "\\"), ('"', "^"), ('"', "/"), ("", "\\"))
_NULLS: Final = ("\\N", "null", "(null)", "<null>", "<NULL>")
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]*")
_TRIPLETS: Final = 3
"""A row of changes has three fields for each column, and three more."""


class _Reading(NamedTuple):
    """One object in one dialect: its rows, and which share of its records are rows of a table's widths."""

    csv: CsvDialect
    rows: list[list[Field]]
    share: float
    width: int

    def shows_quotes(self) -> bool:
        """Whether something is quoted in it, or quotes are signs as any."""
        is_other = self.csv.quote != USUAL_CSV.quote or self.csv.escape != USUAL_CSV.escape
        return is_other or any(one.is_quoted for row in self.rows for one in row)


def guessed_dialect(texts: Mapping[str, bytes]) -> GuessedDialect:
    """How these objects write CSV, by name; what is usual where they show nothing else, or are no CSV."""
    readings = {
        name: found
        for name, text in [*texts.items()][:_MOST_OBJECTS]
        if text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[", b"<", b"")
        for found in [_best(name, text[:_LOOKED_AT], len(text) > _LOOKED_AT)]
        if found is not None
    }
    if not readings:
        return GuessedDialect(USUAL_CSV, {})
    votes = Counter(found.csv.delimiter for found in readings.values())
    delimiter = max(votes, key=lambda one: (votes[one], one == USUAL_CSV.delimiter))
    alike = {name: one for name, one in readings.items() if one.csv.delimiter == delimiter}
    # Files in which nothing is quoted do not say how it would be.
    quoting = Counter(one.csv for one in alike.values() if one.shows_quotes())
    usual = replace(USUAL_CSV, delimiter=delimiter)
    csv = max(quoting, key=lambda one: (quoting[one], one == usual), default=usual)
    rows = [found.rows for found in alike.values()]
    header, of_header = _header(rows)
    null, of_null = _null_word([one[1:] if header == "yes" else one for one in rows])
    count = sum(map(len, rows))
    width = max(found.width for found in alike.values())
    why = {
        "delimiter": f"{count:,} rows have {width:,} fields each so"
        if len({found.width for found in alike.values()}) == 1
        else f"{count:,} rows are as wide as others so",
        "quote": "what stands around fields" if csv.quote else "quotes stand within fields",
        "escape": "with it every quote in quotes is one of the text",
        **{"null_word": of_null, "header": of_header},
    }
    others = tuple(name for name in readings if name not in alike)
    return GuessedDialect(replace(csv, null=null, header=header), why, others)


def rows_in_words(texts: Mapping[str, bytes]) -> str | None:
    """That these objects look like rows of fields, in words; None where they do not."""
    for name, text in [*texts.items()][:_MOST_OBJECTS]:
        found = _best(name, text[:_LOOKED_AT], len(text) > _LOOKED_AT)
        if found is not None and len(found.rows) > 1:
            sign = "a tab" if found.csv.delimiter == "\t" else repr(found.csv.delimiter)
            return f"{name} looks like rows of {found.width} fields with {sign} between them"
    return None


def _best(name: str, text: bytes, is_cut: bool) -> _Reading | None:
    """The dialect in which most of an object's records are rows of one width; None where none has two fields."""
    found = [
        reading
        for delimiter in _DELIMITERS
        if delimiter.encode() in text
        for reading in [_quoted(name, text, is_cut, replace(USUAL_CSV, delimiter=delimiter))]
        if reading.share >= _MOST and reading.width > 1
    ]
    # Of several the one with more fields: commas within numbers come once in each row, too.
    return max(found, key=lambda one: (one.width, one.csv == USUAL_CSV), default=None)


def _quoted(name: str, text: bytes, is_cut: bool, csv: CsvDialect) -> _Reading:
    """The object with the quotes that fit most of its records; single ones where they stand around fields."""
    readings = []
    for quote, escape in _QUOTINGS:
        is_there = quote.encode() in text and (escape == "\\" or escape.encode() in text)
        is_usual = (quote, escape) == ('"', "\\")
        if csv.delimiter in (quote, escape) or not (is_there or is_usual):
            continue
        one = _read(name, text, is_cut, replace(csv, quote=quote, escape=escape))
        readings.append(one)
        if quote == '"' and one.share == 1:
            break
    best = max(readings, key=lambda one: one.share)
    texts = [one.text for row in best.rows for one in row]
    within = [one for one in texts if len(one) > 1 and one[0] == one[-1] == "'"]
    if (
        best.csv.quote == '"'
        and within
        and not any(one.is_quoted for row in best.rows for one in row)
    ):
        single = _read(name, text, is_cut, replace(csv, quote="'"))
        return single if single.share >= best.share else best
    return best


def _read(name: str, text: bytes, is_cut: bool, csv: CsvDialect) -> _Reading:
    feed = Feed("sample", "arcion_s3_csv", "", csv=csv)
    try:
        records = [*csv_records.split(text, None, feed, name)]
    except WeirError:
        return _Reading(csv, [], 0.0, 0)
    if is_cut:
        records = records[:-1]
    fields = [
        None if one.defect else fields_of(one.payload.decode("utf-8", "replace"), csv)
        for one in records
    ]
    rows = [one for one in fields if one]
    heads = {one.header for one in records if one.header}
    widths = Counter([*map(len, rows), *(len(header_of(one, csv) or ()) for one in heads)])
    ((width, _),) = widths.most_common(1) or [(0, 0)]
    known = {width, _TRIPLETS * width + _TRIPLETS, width // _TRIPLETS - 1}
    known = {one for one in known if one > 1}
    share = sum(len(row) in known for row in rows) / max(1, len(fields))
    return _Reading(csv, [row for row in rows if len(row) in known], share, width)


def _header(objects: Sequence[Sequence[Sequence[Field]]]) -> tuple[Header, str]:
    """Whether the files begin with a header, where their first rows do not show it by themselves."""
    firsts = [tuple(one.text for one in rows[0]) for rows in objects if rows]
    are_plain = [all(_PLAIN.fullmatch(text) for text in one) for one in firsts]
    if len(set(firsts)) > 1 and all(are_plain) and len({len(one) for one in firsts}) == 1:
        return "no", "a guess: the files begin with words, but with different ones"
    heads = {
        tuple(one.text for one in rows[0])
        for rows in objects
        if rows and _names_typed_columns(rows)
    }
    if heads and heads.issuperset(firsts) and not all(are_plain):
        return "yes", "a guess: the first rows have words where the others have numbers or dates"
    return "auto", ""


def _names_typed_columns(rows: Sequence[Sequence[Field]]) -> bool:
    """Whether the first row has no value of any type, where rows behind it have such values in one of its columns."""
    first, *rest = rows
    names = [one.text for one in first]
    if len(rest) < 2 or len(set(names)) < len(names) or not all(names):
        return False
    if any(inferred_type([name]).type != "string" for name in names):
        return False
    return any(
        _is_typed(one[at] for one in rest if len(one) == len(first)) for at in range(len(first))
    )


def _is_typed(fields: Iterable[Field]) -> bool:
    given = [one.text for one in fields if one.text not in ("", "NULL", *_NULLS)]
    return len(given) > 1 and inferred_type(given).type != "string"


def _null_word(objects: Sequence[Sequence[Sequence[Field]]]) -> tuple[str, str]:
    """The unquoted text that stands for null."""
    rows = [row for one in objects for row in one]
    words = Counter(one.text for row in rows for one in row if not one.is_quoted)
    if words["NULL"]:
        return "NULL", ""
    seen = [word for word in _NULLS if words[word]]
    if seen:
        word = max(seen, key=lambda one: words[one])
        return word, f"a guess: fields with it: {words[word]:,}, and none with NULL"
    if not rows or not words[""]:
        return "NULL", ""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    whole = [row for row in rows if len(row) == width]
    for at in range(width):
        column = [row[at] for row in whole]
        if any(not one.text for one in column) and _is_typed(column):
            return "", "a guess: empty fields stand in columns of numbers or dates"
    return "NULL", ""
