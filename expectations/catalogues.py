"""What must be true of the catalogues in which gold is registered."""

from __future__ import annotations

from expectations.rule import Rule

GOLD_STANDS_IN_CATALOGUES = Rule(
    "gold_stands_in_catalogues",
    "warning",
    "Every gold table stands in the catalogues of the warehouse, with the columns that it has.",
    "Gold is right all the same. `weir register <feed>` tries again at once, as the next run does"
    " (docs/catalogues.md).",
)

RULES = (GOLD_STANDS_IN_CATALOGUES,)
"""The rules of catalogues, of warehouses for which some are set."""
