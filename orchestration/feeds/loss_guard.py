"""``loss_guard`` of a feed file: how many rows of a table one delete may remove without being asked."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from orchestration.feeds.misdeclared import Misdeclared
from transforms.feed.feed import LossGuard

_Text = Annotated[str, Field(min_length=1)]
_SHARE: Final = re.compile(r"0|1|0?\.[0-9]{1,9}|1\.0{1,9}")
_ROWS: Final = re.compile(r"[0-9]{1,15}")


class DeclaredLossGuard(BaseModel):
    """How many rows one delete may remove at once; what would remove more waits for ``weir release``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    share: _Text = "0.5"
    """It waits where it would remove more than this share of the table's rows; with 1 it never does."""
    rows: _Text = "100"
    """And at least so many rows."""


def loss_guard_from(declared: DeclaredLossGuard, misdeclared: Misdeclared) -> LossGuard:
    """The guard that was written.

    Raises:
        FeedMisdeclared: The share or the number of rows is none.
    """
    if not _SHARE.fullmatch(declared.share):
        fault = f"{declared.share!r} is no share from 0 to 1, such as 0.5"
        raise misdeclared("loss_guard.share", fault)
    if not _ROWS.fullmatch(declared.rows):
        raise misdeclared("loss_guard.rows", f"{declared.rows!r} is no whole number, such as 100")
    return LossGuard(float(declared.share), int(declared.rows))
