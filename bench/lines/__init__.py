"""What is timed: the lines of the bench's table, and what each competitor does in them.

``wanted`` gives the lines that are asked for.
"""
