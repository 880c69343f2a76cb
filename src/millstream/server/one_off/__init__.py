"""One-off queries over the datasets, and the documents of results."""
