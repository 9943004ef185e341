"""What the feed files of graph databases declare in place of tables: vertices and edges, predicates and types.

Put here what is checked of such keys. Not here: the keys themselves (``orchestration/feeds/keys``), and what gold makes
of them (``transforms/formats``).
"""
