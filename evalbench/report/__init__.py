"""Pages drawn from the files of a run: the report, comparisons, the index."""
