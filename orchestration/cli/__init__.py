"""The commands of ``weir``: one module for each; ``main`` prints every ``WeirError`` that they raise.

``arguments`` has their arguments and help texts, and imports a command's module only when it is called.
"""
