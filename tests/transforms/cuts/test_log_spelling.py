"""Positions as each database writes them: read, written, and refused where they are another one's."""

from __future__ import annotations

from random import Random

import pytest

from transforms.change import LogPosition
from transforms.cuts.log_spelling import (
    SourceLog,
    epoch_of,
    expected_of,
    in_words,
    point_in,
    point_of,
)

POSTGRES, ORACLE, INFORMIX = map(SourceLog, ("postgresql", "oracle", "informix"))
SQL_SERVER, DB2 = map(SourceLog, ("sqlserver", "db2"))
MARIADB, MYSQL = SourceLog("mariadb", "mariadb-bin."), SourceLog("mysql", "binlog.")
LSN = (0x2A00000D980003 >> 62, 0x2A00000D980003 & (1 << 62) - 1)


@pytest.mark.parametrize(
    ("log", "text", "point"),
    [
        (POSTGRES, "0/16B3748", (0x16B3748,)),
        (POSTGRES, "1/0", (1 << 32,)),
        (POSTGRES, " a/ff ", ((10 << 32) + 255,)),
        (POSTGRES, "23803720", (0x16B3748,)),
        (POSTGRES, "0/16B3748 of epoch 2", (0x16B3748,)),
        (MARIADB, "mariadb-bin.000003:1234", (3, 1234)),
        (MARIADB, "000003:1234", (3, 1234)),
        (MYSQL, "binlog.1000000:4", (1_000_000, 4)),
        (SourceLog("mysql"), "binlog.000003:1234", (3, 1234)),
        (SQL_SERVER, "0000002a:00000d98:0003", LSN),
        (SQL_SERVER, "2A:D98:3", LSN),
        (SQL_SERVER, "0x0000002A00000D980003", LSN),
        (DB2, "0000002a:00000d98:0003", LSN),
        (ORACLE, "2164211", (2164211,)),
        (INFORMIX, "2164211", (2164211,)),
    ],
)
def test_a_position_is_read_as_its_source_writes_it(
    log: SourceLog, text: str, point: LogPosition
) -> None:
    assert point_of(log, text) == point


@pytest.mark.parametrize(
    ("log", "text", "expected"),
    [
        (POSTGRES, "mariadb-bin.000003:1234", "0/16B3748, or the same as one decimal number"),
        (POSTGRES, "0/123456789", "0/16B3748"),
        (POSTGRES, "16B3748", "0/16B3748"),
        # Else it would be one of the newest epoch.
        (POSTGRES, "0/16B3748 of epoch one", "0/16B3748"),
        (POSTGRES, "0/16B3748 of epoch -1", "0/16B3748"),
        # Of another server, or from before its files were renamed.
        (MARIADB, "mysql-bin.000003:1234", "; its files are called mariadb-bin.…"),
        (MARIADB, "0-1-5", "(a GTID is none)"),
        (MYSQL, "3E11FA47-71CA-11E1-9E33-C80AA9429562:23", "(a GTID is none)"),
        (MYSQL, "binlog.000003", "a file of the binary log and a position in it"),
        (MYSQL, "1234", "a file of the binary log and a position in it"),
        # As a backup's catalogue has it, in decimal: read as hexadecimal digits it would be another one.
        (SQL_SERVER, "42000000348800003", "three hexadecimal parts, 0000002a:00000d98:0003"),
        (SQL_SERVER, "0x2a", "or 0x and all of its digits"),
        (SQL_SERVER, "2a:d98", "three hexadecimal parts"),
        (SQL_SERVER, "2a:123456789:3", "three hexadecimal parts"),
        (ORACLE, "0x2105F3", "a system change number, 2164211"),
        (ORACLE, "2.164.211", "a system change number, 2164211"),
        (INFORMIX, "", "a log sequence number, 2164211"),
    ],
)
def test_what_is_no_position_of_the_log_is_told_with_what_is(
    log: SourceLog, text: str, expected: str
) -> None:
    assert point_of(log, text) is None
    assert expected in expected_of(log)


@pytest.mark.parametrize("log", [POSTGRES, MARIADB, MYSQL, SQL_SERVER, DB2, ORACLE, INFORMIX])
def test_what_is_written_is_read_again(log: SourceLog) -> None:
    chance = Random(f"spelling {log.connector}")
    for epoch in (0, 0, 3):
        numbers = {
            "mysql": (chance.randint(1, 2_000_000), chance.randint(4, 2**40)),
            "mariadb": (chance.randint(1, 2_000_000), chance.randint(4, 2**40)),
            "sqlserver": (chance.randint(0, 2**18 - 1), chance.randint(0, 2**62 - 1)),
            "db2": (chance.randint(0, 2**60), chance.randint(0, 2**62 - 1)),
        }.get(log.connector, (chance.randint(1, 2**62),))
        log_position = (epoch, 1, *numbers, 7, 7)
        text = in_words(log, log_position)
        assert point_of(log, text) == point_in(log, log_position) == numbers
        assert epoch_of(text) == (epoch or None)
