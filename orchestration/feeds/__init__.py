"""From ``feeds/<feed>.yaml`` to a ``Feed`` that is known to be sound, or an error that says what to write instead.

``keys`` says which keys a feed file may have, ``load`` reads a file. Every function that turns a part of a file into a
value raises ``InvalidKey`` where the part is not valid; ``load`` names file, line and column.
"""
