"""One run from the windows that are due to the summary of its outcome.

``planning`` asks and never writes, ``execute`` runs the Dagster job, ``outcome`` gathers what came of it, ``summary``
prints that. Put here what happens between the wish for a run and its summary. Not here: who asks for a run (``cli``,
``automation``), and what the steps of a run do (``assets``).
"""
