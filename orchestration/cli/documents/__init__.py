"""Commands that make a document: a feed's report, Data Docs, and what dbt reads.

Put here a command whose result is a file or a page. Not here: its arguments (``arguments``), and how a page is made
(``orchestration/watching``, ``assets/quality``).
"""
