"""What was paid for: replies and vectors on disk, and who is asking for which; failures are not kept, so that a retry asks."""
