"""Curves: the same change into more and more of something, so that one sees what grows with the lake."""
