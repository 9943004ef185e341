"""What several source formats share, a package or a module for each family.

Put here what at least two formats need. A family knows no format. Not here: what one format alone needs (``formats``),
and what every format needs (``event``, ``record``, ``json_values``, ``records``).
"""
