"""Plans at work: operators built, connected, shared."""
