"""What is timed: the lines of the bench's table, and what each competitor does in them.

Put a line in the module of its table or question. ``wanted`` gives the lines that are asked for. Not here: the
competitors' own work (``bench/rivals``, ``bench/others``), and taking the time (``bench/measuring``).
"""
