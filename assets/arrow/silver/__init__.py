"""Rows on their way from bronze to silver, over Arrow batches: decoded, packed for the shuffle, given their outcome.

Put here a stage between bronze and silver. Not here: what records and changes mean (``transforms``), and which stages
follow each other (``assets/silver``).
"""
