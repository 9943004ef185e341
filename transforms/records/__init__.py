"""Cutting the bytes of one landed object into records, verbatim.

Put here where a record begins and ends in one kind of text, and what becomes of a record that could not be cut out
whole. Not here: what a record means, and which format is cut how (``formats``), and where the bytes come from
(``assets/landing``).
"""
