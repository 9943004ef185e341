"""What several source formats share, a room for each family. A family knows no format."""
