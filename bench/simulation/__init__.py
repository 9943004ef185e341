"""What a day of any size would cost, computed from the unit costs that the bench has measured, and never measured."""
