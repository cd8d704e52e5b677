"""The log of a system in production: where it is kept, what fills it, what is due."""
