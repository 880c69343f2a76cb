"""Property paths: transitive closure by delete-and-rederive."""
