"""The commands of ``weir``, a module for each, and what they share.

``main`` and ``decisions`` declare the commands' arguments and import a command's module only when it is called, so that
``weir --help`` needs neither Spark nor Dagster. Not here: answers to questions (``assets/audit``), which commands only
tell.
"""
