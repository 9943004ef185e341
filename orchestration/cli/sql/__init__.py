"""What ``weir query`` does with a statement of Spark SQL.

Put here how a statement is read, run and answered. Not here: the command itself (``orchestration/cli/query``).
"""
