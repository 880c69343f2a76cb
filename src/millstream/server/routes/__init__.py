"""What each path of the server does."""
