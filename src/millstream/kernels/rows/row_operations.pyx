"""What a row program can be told to do: for those who write programs in Python."""
