"""What several source formats share, a package or a module for each family; a family knows no format."""
