"""The source behind a feed, asked by Weir itself: how it stands."""
