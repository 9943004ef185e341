"""From landing to bronze: every record verbatim, appended once, with its source location."""
