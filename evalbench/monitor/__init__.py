"""The log of a system in production: where it is kept, what fills it, what is due."""

from evalbench.monitor.hook import CallLog, logged

__all__ = ["CallLog", "logged"]
