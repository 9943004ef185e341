"""The tables that the bench makes: drops, rows, and warehouses that each run starts from."""
