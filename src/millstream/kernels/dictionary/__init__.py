"""Dictionary encoding: terms to ids and back."""
