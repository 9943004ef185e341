"""Questions that change nothing: why a row is as it is, how a feed stands, and whether gold can be made again."""
