"""The Spark session: its settings, Java and the jars that it needs, and the warehouse that it writes to."""
