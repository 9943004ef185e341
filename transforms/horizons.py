"""Horizons: up to where a table's history has been folded into base rows and dropped.

What stands at or below a horizon is decided: known events are in the base, and unknown ones came too late. Not here:
where a horizon may be drawn (``assets/horizon_plans.py``), and who reads or writes one (``assets/bases.py``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Horizon:
    """The newest position that a table's base rows cover."""

    position: tuple[int, ...]

    def covers(self, position: tuple[int, ...], stable_prefix: int) -> bool:
        """Whether a change is at or below it; only what is the same in every delivery of it is compared."""
        return position[:stable_prefix] <= self.position[:stable_prefix]
