"""Access to Delta tables, a module for each way in which Weir uses them, and what their failures mean in words.

Put here how a table is opened, read, committed or replaced, whatever is in it. Not here: where a table lies (``lake``),
and what its rows are (``columns``).
"""
