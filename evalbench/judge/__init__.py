"""Judgements on items by a model, a baseline, a file or a function, through one call; entailment and its lexical baseline."""
