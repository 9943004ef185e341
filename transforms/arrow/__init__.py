"""Values as Arrow arrays: canonical texts to typed values and back, columns of maps as dicts."""
