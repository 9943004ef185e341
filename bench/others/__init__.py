"""Other tools that do the work of an apply, each in an environment of its own: see ``docs/bench.md``.

A tool is one module with ``prepare``, ``merge`` and ``export``, which ``steps`` calls in a Python of that environment,
the lock of the environment, and its name in ``scripts``. It imports nothing of Weir's but ``newest``.
"""
