"""What each column of Weir's own means, in a sentence for whoever queries the tables: by table, and by column.

The reference (``docs/site/reference``), dbt's sources and the UI show these sentences. Put here the sentence of a
column, under the layer that has it; a test names a column that has none. Not here: the columns themselves (the modules
beside this package, and those of ``assets/bookkeeping``), and columns that a feed declares.
"""
