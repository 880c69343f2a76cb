"""The state of a server: commands, how they change it, the log and snapshots that it survives by."""
