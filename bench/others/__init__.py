"""Other tools that do the work of an apply, each in an environment of its own: see ``docs/bench.md``.

``delta_rs``, ``dlt_merge`` and ``duckdb_merge`` are plain scripts that a Python of that environment runs. They import
nothing of ours, and nothing of ours imports them. Not here: what is measured besides them (``bench/lines.py``).
"""
