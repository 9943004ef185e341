"""The commands of ``weir``: one module for each, and what several of them share.

Put a command's work here, in a module of the command's name. Its arguments and its help text go to ``arguments``, which
imports the module only when the command is called: ``weir --help`` needs neither Spark nor Dagster. The commands by
which a person decides something are in ``decisions``; what ``weir query`` needs is in ``sql``.
Not here: the answers to questions about a warehouse (``assets/audit``), which the commands only print.
"""
