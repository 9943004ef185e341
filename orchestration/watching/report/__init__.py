"""The report of a feed: one page of HTML with plots, which needs no network and no program to be read.

Put here how a report looks and where it lies. Not here: its facts (``assets/audit/feed_report``).
"""
