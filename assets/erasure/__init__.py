"""Erasing a person's rows: found in bronze, planned, taken out of every table with their older versions, certified."""
