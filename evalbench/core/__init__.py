"""Values, lights as data, statistics and the wording of numbers; nothing but numpy and scipy."""
