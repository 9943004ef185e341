"""Dagster's web pages behind a guard, so that no other page that a browser has open can act in them.

Put here what stands between a browser and Dagster's webserver. Not here: what the pages show (``definitions``,
``watching``).
"""
