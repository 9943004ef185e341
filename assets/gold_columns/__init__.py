"""From changes to current rows and tombstones: the same for every source."""
