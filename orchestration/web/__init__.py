"""Dagster's web pages behind a guard, so that no other page that a browser has open can act in them."""
