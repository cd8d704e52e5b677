"""One HTTP request: sent once, limited, its body read to a bound; whether a retry may help is said, the retry is ``chat``'s."""
