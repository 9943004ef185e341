"""What a feed file for some drops could say: their format, tables, keys and types, with the evidence for each.

All is proposed from a sample: records, and the events that the format makes of them.
"""
