"""Looking at drops before there is a feed for them: a bounded sample, and what gold would have of it.

Nothing here writes a table or starts Spark. Put here what reads a landing to propose a feed file. Not here: what is
proposed (``transforms/proposing``), and where the file goes (``orchestration``).
"""
