"""From ``feeds/<feed>.yaml`` to a ``Feed`` that is known to be sound, or an error that says what to write instead.

``keys`` says which keys a feed file may have; there is a module for each that is more than a word. Not here: what the
facts mean (``transforms/feed``).
"""
