"""Models on this machine: weights and the server that runs them."""
