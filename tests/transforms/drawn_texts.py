"""Texts of the simple types: their borders, and thousands drawn at random, of which many are no value of the type.

The draws are the same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

Draw = Callable[[random.Random], str]

MANY: Final = 2_500

_BLANKS: Final[tuple[str, ...]] = (" ", "\t", "\n", "\r", "  ", "\x0b")
_CONTROLS: Final[tuple[str, ...]] = ("\x00", "\x1f", "\x7f", "\x1c")
_FOREIGN: Final[tuple[str, ...]] = (
    "\u00a0",
    "\u2028",
    "\u0661",
    "\uff11",
    "\u0967",
    "\u00e9",
    "\u017f",
    "\u212a",
)
_SIGNS: Final[tuple[str, ...]] = (
    *"0123456789+-.,:eETZ_ /xfnd\"'[]{}",
    *_BLANKS,
    *_CONTROLS,
    *_FOREIGN,
)

WORDS: Final = (
    *("", " ", "\t", "null", "NULL", "none", "true", "x", "-", "+", ".", "0x10", "1_000", "1,5"),
    *("\u0661", "\uff11\uff12", "1\u0967", "--1", "+-1", "1 2", "1-", "- 1", "\ufeff1", "1\u00a0"),
)
ZONES: Final = (
    *("Z", "+00:00", "-00:00", "+01:00", "-05:30", "+1", "+05", "+0530", "+5:30", "+05:3"),
    *("+5:3", "+18:00", "-18:00", "+18:01", "+19:00", "+01:60", "+01:02:03", "+010203"),
    *("+01:02:60", "UTC", "GMT", "UT", "UTC+1", "GMT-05:30", "UTC+5:30", "UT+01", "GMT0"),
    *("utc", "z", "EST", "PST", "IST", "BST", "MST", "HST", "Europe/Berlin"),
    *("Asia/Kolkata", "America/New_York", "America", "Nowhere", "../etc", "Etc/GMT+5"),
    *("ROC", "Factory", "localtime", "+", "-", "+1:", "+123", "+1234567", "UTC+", "UTCZ"),
    *("+00", "Australia/Lord_Howe", "europe/berlin"),
)


def whole(rng: random.Random) -> str:
    return rng.choice(("", "", "-", "+")) + rng.choice(("", "", "0", "00")) + _digits(rng, 25)


def number(rng: random.Random) -> str:
    fraction = rng.choice(("", ".", "." + _digits(rng, 40) + "0" * rng.choice((0, 0, 1, 30))))
    power = rng.choice((0, 1, 2, 3, 10, 20, 37, 38, 40, 45, 308, 320, 330, 400))
    exponent = f"{rng.choice('eE')}{rng.choice(('', '-', '+'))}{power}"
    return whole(rng) + fraction + rng.choice(("", "", exponent))


def floating(rng: random.Random) -> str:
    return rng.choice(
        (
            number(rng),
            repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-330, 308)),
            f"{rng.uniform(-1e7, 1e7):.{rng.randint(0, 9)}f}",
            f"{rng.uniform(-10, 10):.{rng.randint(0, 18)}f}e{rng.randint(-50, 40)}",
        )
    )


def day(rng: random.Random) -> str:
    year = rng.choice((0, 1, 4, 1582, 1900, 1970, 2000, 2026, 9999, rng.randint(0, 9999)))
    width, last = rng.choice((2, 2, 2, 1)), rng.choice((1, 28, 29, 30, 31, rng.randint(0, 32)))
    return f"{year:04}-{rng.randint(0, 13):0{width}}-{last:0{width}}"


def midnight(rng: random.Random) -> str:
    return day(rng) + rng.choice(("", "", "", "T00:00", " 00:00:00", "T00:00:00.000Z", " 00:00+1"))


def clock(rng: random.Random) -> str:
    width = rng.choice((2, 2, 2, 1))
    hour = rng.choice((0, 1, 2, 12, 23, 23, 24, rng.randint(0, 23)))
    minute, second = (rng.choice((0, 59, 59, 60, rng.randint(0, 59))) for _ in range(2))
    fraction = f".{_digits(rng, 9)}{'0' * rng.choice((0, 0, 1, 5))}"
    seconds = f":{second:0{width}}" + rng.choice(("", fraction))
    return f"{hour:0{width}}:{minute:0{width}}" + rng.choice(("", *[seconds] * 6))


def moment(rng: random.Random) -> str:
    zone = rng.choice(("", "", " ", "  ")) + rng.choice(ZONES)
    return day(rng) + rng.choice(" TTT ") + clock(rng) + rng.choice(("", zone))


def truth(rng: random.Random) -> str:
    return rng.choice(("true", "T", "tRue", "yes", "Y", "1", "false", "f", "False", "No", "n", "0"))


def text(rng: random.Random) -> str:
    return "".join(rng.choices((*_SIGNS, "\U0001f600", "a", "\\", "/"), k=rng.randint(0, 12)))


def _digits(rng: random.Random, most: int) -> str:
    many = rng.choice((0, 1, 1, 2, 3, 5, 8, 10, 16, 18, 19, 20, most))
    return "".join(rng.choices("0123456789", k=rng.randint(0, min(many, most))))


def mutated(drawn: Draw) -> Draw:
    """Of ten texts one is surrounded by blanks, and one has a sign too many, too few or another."""

    def draw(rng: random.Random) -> str:
        found, chance = drawn(rng), rng.randrange(10)
        if chance == 0:
            blanks = (*_BLANKS, *_CONTROLS)
            return rng.choice(("", *blanks)) + found + rng.choice(blanks)
        if chance == 1:
            at = rng.randint(0, len(found))
            return found[:at] + rng.choice(("", *_SIGNS)) + found[at + rng.randint(0, 1) :]
        return found

    return draw


SIMPLE: Final[dict[str, Draw]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), whole),
    **dict.fromkeys(("decimal(12,2)", "decimal(38,0)", "decimal(38,20)", "decimal(5,5)"), number),
    **dict.fromkeys(("float", "double"), floating),
    "boolean": truth,
    "date": midnight,
    **dict.fromkeys(("timestamp", "timestamp_ntz"), moment),
    **dict.fromkeys(("string", "binary"), text),
}

BITS: Final = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}

_NINES: Final = "9" * 18
_BORDERS: Final = {
    "decimal(12,2)": "9999999999.99|9999999999.999|10000000000|-9999999999.99|1e9|0e37|0e38|1e-2|-0",
    "decimal(38,0)": f"{'9' * 38}|-{'9' * 38}|1{'0' * 38}|1e37|1e38|0.0|0.1|{'9' * 39}|0e-400|1000e-3",
    "decimal(38,20)": f"{_NINES}.{'9' * 20}|{_NINES}.{'9' * 21}|1e18|1e-20|1e-21|-1e-20|0e-9999999999",
    "decimal(5,5)": "0.99999|1|-0.99999|0.999990|0.999999|.5|5e-1|-.00000|00.1|1e-5|1e-6|.|e1|1e|1e+",
    "double": "1.7976931348623157e308|1.7976931348623158e308|1.7976931348623159e308|1e309|4.9e-324"
    "|5e-324|2e-324|1e-323|2.2250738585072014e-308|2.2250738585072009e-308|-0|-0.0|0e400|1e-400|0.1"
    "|0.001|0.00099999999999|9999999.999999999|10000000|1e7|1e22|1e23|2e-323|9007199254740993|1.|.5|."
    "|0.30000000000000004|1e-7|NaN|nan|+NaN|-NaN|-nan|Infinity|inf|-inf|+inf|+Infinity|INF|infinit"
    f"|1d|1.5f|0x1p3|1e|e5|1e+| Infinity |{'1' * 400}|0.{'0' * 400}1|1e{'0' * 400}1|1e{'9' * 400}",
    "float": "3.4028235e38|3.4028235677973366e38|3.4028235677973365e38|3.4028236e38|1e39|1.4e-45"
    "|7e-46|7.0064923216240853e-46|7.0064923216240854e-46|1e-45|2e-45|1e-60|16777217|16777216|33554434"
    "|0.1|3.14159274|NaN|-Infinity|-0.0|-0|1e7|9999999|999999|1e-3|1.5f|8.5e-40|1e10|9.8e-45|0.0001"
    "|1.00000017881393421514957253748434595763683319091796875001|1.00000017881393432617187499"
    "|1.00000017881393432617187500|1.00000017881393432617187501|3.402823567797336616375393954581425e38",
    "boolean": "maybe|2|TRUE|FALSE|yes |\tno|on|off|tru|01|1.0|\x7ft\x00",
    "date": "2024-02-29|2023-02-29|1900-02-29|2000-02-29|0001-01-01|9999-12-31|0000-01-01|10000-01-01"
    "|1582-10-10|2026|2026-11|2026-1-2|20261120|2026-W01-1|-2026-01-01|+2026-01-01|2026-11-20T"
    "|2026-11-20 00:00:00.000|2026-11-20T00:00:00Z|2026-11-20 00:00:00.001|2026-11-20 x|12026-01-01"
    "|2026-001-01|2026-11-20\u2028|2026/11/20|2026-11-20T00:00:00+00:00|2026-11-20Z|\x002026-11-20",
    "timestamp": "0001-01-01 00:00:00|9999-12-31 23:59:59.999999|2024-02-29|2026-11-20|2026-11-20T"
    "|2026-11-20 10|2026-11-20 10:11|2026-11-20 10:11Z|10:11|2026-11-20 10:11:12.|T10:11|2026-11-20Z"
    "|2026-03-29 02:30:00 Europe/Berlin|2026-10-25 02:30:00 Europe/Berlin|1620787841|now|2026"
    "|2300-07-01 12:00:00 Europe/Berlin|2026-11-20 10:11:12.+01:00|2026-11-20 10:11:12.1234567"
    "|2026-11-20 10:11:12,5|2026-11-20 10:11:12.1234560|1969-12-31 23:59:59.999999|2026-11-20 24:00:00"
    "|2026-11-20 10:11:60|2026-11-20\t10:11:12|2026-11-20 10:11:12 +01:00 |2026-02-29 10:11:12"
    "|2026-11-20 10:11:12.000|2026-11-20T10:11:12.100Z|2026-11-20 10:11:12+0000|2026-11-20t10:11:12"
    f"|{'|'.join(f'2026-06-30 12:00:00{gap}{zone}' for zone in ZONES for gap in ('', ' '))}",
    "string": "\x00|\ufffd|\U0010ffff",
}


def drawn(kind: str) -> list[str]:
    """All texts of a type, each once."""
    rng, draw = random.Random(kind), mutated(SIMPLE[kind])
    borders = _BORDERS.get("timestamp" if kind == "timestamp_ntz" else kind, "").split("|")
    if bits := BITS.get(kind):
        borders += [str(sign * (2**bits + by)) for sign in (1, -1) for by in (-2, -1, 0, 1)]
    return [*dict.fromkeys((*WORDS, *borders, *(draw(rng) for _ in range(MANY))))]
