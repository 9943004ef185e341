"""One run from the windows that are due to the summary of what came of them.

``planning`` asks and never writes, ``execute`` runs the Dagster job, ``summary`` tells of it. Not here: who asks for a
run (``cli``, ``automation``).
"""
