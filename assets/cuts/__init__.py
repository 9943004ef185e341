"""Cuts of a feed: recorded after each run, and a gold table's rows as they were at one (docs/cuts.md)."""
