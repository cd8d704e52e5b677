"""Runs and groups compared: statistics, no pages."""
