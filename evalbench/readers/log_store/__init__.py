"""The log of a system in production as tables: where it is, what it holds, rows of a window of time.

Written by :mod:`evalbench.monitor`, which is a floor above.
"""
