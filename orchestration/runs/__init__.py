"""One run from the windows that are due (``planning``) over its execution and outcome to its summary."""
