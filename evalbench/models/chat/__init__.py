"""Many replies: asked at once, kept; retried where an endpoint failed (with a growing wait, or the one that it names), asked
anew where a reply does not parse.
"""
