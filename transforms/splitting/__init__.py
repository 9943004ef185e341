"""Cutting the bytes of one landed object into records, verbatim.

Here: where a record begins and ends, and what could not be cut out whole. Not here: what a record means
(``formats``), where the bytes come from (``assets/landing/objects.py``), and which format is cut how (``formats``).
"""
