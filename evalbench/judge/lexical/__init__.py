"""``baseline/lexical``: does one text say what another says?  A deterministic guess from words, numbers and vectors.

It reads no meaning: it measures how much of a text is found again in another one, closely together, and whether numbers,
names and negations agree.  Its weights are few, and its measured quality is in ``card.yaml``.  A verdict that rests
on it is at best grey.
"""
