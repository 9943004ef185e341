"""What a feed file for some drops could say: their format, tables, keys and types, with the evidence for each.

All is proposed from a sample: records, and the events that the format makes of them. Put here what is found by looking
at values, for every format alike. Not here: by which marks one format is known, and what its records say of their
tables (``formats``), and reading a sample (``assets/onboarding``).
"""
