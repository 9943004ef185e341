"""Polars, which reads Delta tables by delta-rs: run in the environment of ``polars.lock``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars
from cells import answer


def read(path: str) -> Iterable[Mapping[str, Any]]:
    """All rows of the table."""
    return list(polars.scan_delta(path).collect().to_dicts())


answer(read)
