"""What must be true of positions that were promised as cuts (docs/cuts.md)."""

from __future__ import annotations

from expectations.rule import Rule

NO_EVENT_CAME_BELOW_A_CUT = Rule(
    "no_event_came_below_a_cut",
    "warning",
    "No new event stands at or below a position up to which all tables had been recorded as whole.",
    "`weir query --at` gives the corrected rows from now on, and the cuts in `cuts.<feed>` say how many events came"
    " late. Whoever has read at one of these cuts before reads again. A connector that sends such events has lost its"
    " place, or its topics were written to by somebody else.",
)

RULES = (NO_EVENT_CAME_BELOW_A_CUT,)
"""The rules of cuts, of feeds that have them."""
