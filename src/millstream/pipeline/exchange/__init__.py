"""The shuffle: from sources to cells, from cells to the second stage."""
