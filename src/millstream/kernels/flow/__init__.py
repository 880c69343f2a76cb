"""The compiled dataflow: buffers of deltas, operators, how they are run."""
