"""Types of Arrow's that many rows between stages have, with the names of elements that Delta and Spark give them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

TEXTS: Final = pa.list_(pa.field("element", pa.string()))
"""Texts in an order: the parts of a key, the names of columns or streams."""

NUMBERS: Final = pa.list_(pa.field("element", pa.int64()))
"""A log position."""

IMAGE: Final = pa.map_(pa.string(), pa.string())
"""An image: a canonical text, or null, by column."""
