"""What a feed declares, as plain facts that every layer below takes as values."""
