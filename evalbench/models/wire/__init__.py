"""One HTTP request: sent, limited, its body read to a bound."""
