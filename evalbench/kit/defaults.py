"""Defaults that every study and the command line share; quick to import."""

SEED = 0
N_RESAMPLES = 2000
MAX_UNSCORED = 0.05
