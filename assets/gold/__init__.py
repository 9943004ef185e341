"""From silver to gold: current rows, their tombstones, and their versions where a table asks for them."""
