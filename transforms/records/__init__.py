"""Cutting the bytes of one landed object into records, verbatim."""
