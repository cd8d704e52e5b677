"""Vectors of texts and their cosines."""
