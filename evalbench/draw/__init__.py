"""Escaped HTML tables and pictures in one style; the only import of IPython."""
