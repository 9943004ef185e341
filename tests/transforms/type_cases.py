"""Texts that fit a type, with the value that they are and its canonical text, and texts that do not fit."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

FITTING: list[tuple[str, str, object, str]] = [
    ("tinyint", "-128", -128, "-128"),
    ("int", "010", 10, "10"),
    ("int", " +10 ", 10, "10"),
    ("bigint", "9223372036854775807", 9223372036854775807, "9223372036854775807"),
    ("decimal(12,2)", "1.5", Decimal("1.50"), "1.50"),
    ("decimal(12,2)", "1.5000000000000000000000000", Decimal("1.50"), "1.50"),
    ("decimal(12,2)", "150e-2", Decimal("1.50"), "1.50"),
    ("decimal(12,2)", "1000e-3", Decimal("1.00"), "1.00"),
    ("decimal(12,2)", "-0.000", Decimal("0.00"), "0.00"),
    ("decimal(12,2)", "9999999999.99", Decimal("9999999999.99"), "9999999999.99"),
    ("decimal(10,0)", "120", Decimal("120"), "120"),
    ("decimal(38,20)", "0.12345678901234567891", Decimal("0.12345678901234567891"), ""),
    ("decimal(38,0)", "9" * 38, Decimal("9" * 38), "9" * 38),
    ("double", "1", 1.0, "1.0"),
    ("double", "-2.5E-3", -0.0025, "-0.0025"),
    ("double", "Infinity", float("inf"), "Infinity"),
    ("double", "-inf", float("-inf"), "-Infinity"),
    ("boolean", "1", True, "true"),
    ("boolean", "No", False, "false"),
    ("date", "2026-11-20", date(2026, 11, 20), "2026-11-20"),
    ("date", " 2026-1-2 ", date(2026, 1, 2), "2026-01-02"),
    ("date", "2026-11-20 00:00:00.000", date(2026, 11, 20), "2026-11-20"),
    ("date", "2026-11-20T00:00:00Z", date(2026, 11, 20), "2026-11-20"),
    ("timestamp", "2026-11-20", "2026-11-20 00:00:00", "2026-11-20 00:00:00"),
    ("timestamp", "2026-11-20T10:11:12Z", "2026-11-20 10:11:12", "2026-11-20 10:11:12"),
    ("timestamp", "2026-11-20 10:11:12.5 +01:00", "2026-11-20 09:11:12.5", "2026-11-20 09:11:12.5"),
    ("timestamp", "2026-11-20 10:11:12.123456000", "2026-11-20 10:11:12.123456", ""),
    ("timestamp", "2026-11-20 10:11:00 Asia/Kolkata", "2026-11-20 04:41:00", "2026-11-20 04:41:00"),
    ("timestamp_ntz", "2026-11-20T10:11:12", "2026-11-20 10:11:12", "2026-11-20 10:11:12"),
    ("string", " NULL ", " NULL ", " NULL "),
    ("binary", "h\u00e9", "h\u00e9".encode(), "aMOp"),
    ("array<int>", "[1, null]", [1, None], "[1,null]"),
    ("array<string>", '["a}", "]"]', ["a}", "]"], '["a}","]"]'),
    ("set<int>", "[3, 1, 3]", [1, 3], "[1,3]"),
    ("map<int,string>", '{"2": "b"}', {2: "b"}, '{"2":"b"}'),
    ("map<string,int>", '{"a": 1}', {"a": 1}, '{"a":1}'),
    ("struct<a:int,b:string>", '{"b": "x"}', {"a": None, "b": "x"}, '{"a":null,"b":"x"}'),
]
"""Type, text, value (timestamps as text), and the canonical text (empty: the text itself or the value's)."""

UNFIT: list[tuple[str, str]] = [
    *[("tinyint", text) for text in ("128", "-129", "x", "", " ", "1.0")],
    *[("smallint", text) for text in ("32768", "1e2")],
    *[("int", text) for text in ("2147483648", "ten", "1.5", "1_000", "0x10", "NULL")],
    *[("bigint", text) for text in ("9223372036854775808", "-9223372036854775809")],
    *[("decimal(12,2)", text) for text in ("1.239", "1.001", "15e-3", "1e-400", "1,5", "NaN")],
    *[("decimal(12,2)", text) for text in ("12345678901", "1.2300000000000000000001", "1e30")],
    *[("decimal(30,2)", text) for text in ("1234567890123456789012345.678",)],
    *[("decimal(10,0)", text) for text in ("0.5", "12345678901")],
    *[("double", text) for text in ("fast", "1e400", "-1e400", "1e-400", "1,5", "1d", "0x1p3", "")],
    *[("float", text) for text in ("1e40", "1e-60", "1.5f")],
    *[("boolean", text) for text in ("maybe", "2", "", "-1")],
    *[("date", text) for text in ("2026-02-30", "20.11.2026", "2026", "2026-11", "0000-01-01")],
    *[("date", text) for text in ("2026-11-20 10:00:00", "2026-11-20x", "10000-01-01", "20261120")],
    *[("timestamp", text) for text in ("10:11", "T10:11", "2026", "now", "1620787841959", "")],
    *[("timestamp", text) for text in ("2026-11-20 25:00", "2026-11-20 10:00:00.1234567")],
    *[("timestamp_ntz", text) for text in ("2026-11-20 10:00:00Z", "2026-11-20 10:00:00+01:00")],
    *[("array<int>", text) for text in ('[1,"x"]', "[1.5]", "[1", "1", "[1] 2", "", "{}", "[1,]")],
    *[("array<int>", text) for text in ("[99999999999]", '[1],"value":[2]', '[1],"x":2')],
    *[("map<string,int>", text) for text in ('{"a":"x"}', '{"a":1,"a":2}', "[]")],
    *[("map<int,int>", text) for text in ('{"a":1}', '{"1.5":1}', '{"1":"x"}')],
    *[("struct<a:int>", text) for text in ('{"a":"x"}', '{"a":1}}', '"a"')],
    *[("array<struct<a:int>>", text) for text in ('[{"a":1},{"a":1.5}]',)],
]
"""Type and text."""
