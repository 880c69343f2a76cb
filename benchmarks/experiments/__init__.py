"""Experiments of the source papers, one a module: `ABOUT`, `SIZES` and `run(effort, progress) -> Part`."""
