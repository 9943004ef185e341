"""How a feed is run and watched; nothing here changes what its data means.

Put here each section of a feed file of that kind, one module a section. Not here: what decides what the data means
(``load`` and the modules beside it), and the values that a section becomes (``transforms/feed``).
"""
