"""The commands about feed files: checking, listing and writing them.

Put here what such a command prints and how it ends. Not here: what a feed file may say (``orchestration/feeds``), and
what is proposed for a new one (``transforms/proposing``).
"""
