"""What a feed file says of its checks: of the built-in ones, and of the expectations that it adds.

Put here what ``checks`` and ``expectations`` of a feed file can say. Not here: the built-in rules and the expectations
that there are, and how they are judged (``expectations``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

CheckSeverity = Literal["block", "fail", "warn", "off"]
"""What follows from a violation: nothing downstream starts, the run ends with 1, it is reported; or it is not asked."""


@dataclass(frozen=True, slots=True)
class CheckSetting:
    """What the feed file says of one rule.

    ``severity``: None is the rule's own. ``at_most``: so many violations still pass. ``within``: how old the newest
    event may be, of a rule that asks for its age.
    """

    severity: CheckSeverity | None = None
    at_most: int = 0
    within: timedelta | None = None


ExpectationSeverity = Literal["warn", "block"]
SuiteLayer = Literal["silver", "gold"]


@dataclass(frozen=True, slots=True)
class DeclaredExpectation:
    """One expectation.

    ``check``: the name of its check. ``kind``: its name in Great Expectations (``expect_column_values_to_be_unique``).
    ``column``: the column that it stands under, if any. ``arguments``: the others, every scalar as the text that was
    written. ``key``: where it stands in the feed file.
    """

    check: str
    kind: str
    column: str | None
    arguments: Mapping[str, object]
    severity: ExpectationSeverity
    key: str


@dataclass(frozen=True, slots=True)
class DeclaredSuite:
    """The expectations of one table: a declared ``table`` in gold, or all that a feed has in silver (None).

    ``file``: the feed file, for messages.
    """

    layer: SuiteLayer
    table: str | None
    expectations: Sequence[DeclaredExpectation]
    file: str


def check_names(kinds: Sequence[tuple[str, str | None]]) -> list[str]:
    """The names of the checks of a suite's expectations, given as kinds and columns: no two are the same."""
    seen: dict[str, int] = {}
    names = []
    for kind, column in kinds:
        plain = re.sub(r"\W", "_", f"{kind}__{column}" if column else kind, flags=re.ASCII)
        seen[plain] = seen.get(plain, 0) + 1
        names.append(plain if seen[plain] == 1 else f"{plain}__{seen[plain]}")
    return names
