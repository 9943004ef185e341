"""``weir quarantine``: records that could not be taken, listed, shown, written out, replayed or given up.

Put here what each of these commands does and prints. Not here: their arguments (``arguments/quarantining``), and what
is known of a record (``assets/bookkeeping/quarantine``).
"""
