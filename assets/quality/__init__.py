"""Results of checks kept in the warehouse, and expectations of feed files asked of the tables."""
