"""Language models: what a name means, one HTTP request (wire), many replies (chat), what was paid for (store), this machine
(local), vectors (similarity), prompts.

Who retries: ``chat``.  A request of ``wire`` is sent once and says whether asking again may help and how long to wait; the
clients' own retries are off, so that each attempt passes the limits, is counted and has its own deadline.
"""
