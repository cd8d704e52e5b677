"""What was paid for: replies and vectors on disk, and who is asking for which."""
