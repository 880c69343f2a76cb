"""What the engine extends: order of time, routing of what comes, runs of queries."""
