"""How fast Weir is, against what else there is: see ``docs/bench.md``.

One run makes seeded drops (``made``), times Weir and its competitors (``rivals``, ``others``) on them, line by line
(``lines``), and reports the ratios. Nothing imports this package.
"""
