"""The schemas of tables for Spark and Arrow, and expressions over their columns."""
