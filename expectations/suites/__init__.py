"""The expectations that feed files declare: from what is written there to Great Expectations' own results.

Put here what knows how Great Expectations is asked. Not here: the rows that it is asked about and what Dagster is shown
(``assets/quality``), importing it (``gx``), and the built-in rules (``silver``, ``gold``, ``tigergraph``).
"""
