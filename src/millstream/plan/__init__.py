"""From algebra to what is run, and the text that explains it."""
