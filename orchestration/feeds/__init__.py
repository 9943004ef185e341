"""From ``feeds/<feed>.yaml`` to a ``Feed`` that is known to be sound, or an error that says what to write instead.

``keys`` says which keys a feed file may have, ``load`` reads a file, and each key that takes more checking has a
module. Put here what a feed file may say. Not here: what a declared fact means (``transforms/feed``).
"""
