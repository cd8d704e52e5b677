"""Models on this machine: weights and the server that runs them; its replies are retried as those of any endpoint."""
