"""What a feed declares, as plain facts that every layer below takes as values.

Put here what follows from the feed file or from recorded decisions alone. Not here: the YAML and its errors
(``orchestration/feeds``), and what a declaration does to an event (``silver``).
"""
