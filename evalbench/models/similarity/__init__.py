"""Vectors of texts and their cosines; of an endpoint's vectors each request is retried as those of ``chat`` are."""
