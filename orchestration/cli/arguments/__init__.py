"""The arguments and the help texts of all commands.

Put here whatever ``--help`` prints. Not here: what a command does (a module of its name in ``orchestration/cli``), and
the options that most commands have (``orchestration/cli/options``). A command's module is imported within the function
that calls it: the help must appear at once, without Spark and Dagster.
"""
