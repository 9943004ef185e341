"""How fast Weir is, against what else there is: see ``docs/bench.md``.

One run makes seeded drops, times Weir and its competitors on them in one Spark session, and tells the ratios. May
import everything; nothing imports it.
"""
