"""Curves: the same change into more and more of something, so that one sees what grows with the lake.

Put here lines of several sizes each. Not here: lines that stand for one size (``bench/lines``), and what they are
called (``bench/lines/wanted``).
"""
