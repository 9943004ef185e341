"""From a format's events to changes and quarantine: the same for every source."""
