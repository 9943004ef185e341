"""The Spark session: its settings, Java and the jars that it needs, and the warehouse that it writes to.

Put here what has to be there before a table can be read. Not here: anything that reads or writes a table (``assets``).
"""
