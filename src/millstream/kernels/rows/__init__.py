"""Row programs: expressions over one row at a time; a regular expression matcher."""
