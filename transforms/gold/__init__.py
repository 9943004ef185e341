"""From changes to rows: what a key is after all that happened to it."""
