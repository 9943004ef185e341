"""From a format's events to silver: the same for every source, in plain Python."""
