"""Quarantine as a person works with it: its records, what state each is in, and which ones have left it."""
