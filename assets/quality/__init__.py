"""Results of checks kept in the warehouse, and expectations of feed files asked of the tables.

Put here what reads tables for Great Expectations and what keeps its answers. Not here: what is asked
(``expectations``), the checks that Dagster is shown (``checks``), and counting what breaks a built-in rule (``silver``,
``gold``).
"""
