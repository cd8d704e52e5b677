"""Runs and groups compared: statistics, no pages."""

# Resamples of figures that are not sums.  Each is one call of summarise a side: hundreds are affordable, thousands are not.
N_SUMMARIES = 400
