"""Language models: what a name means, one HTTP request (wire), many replies (chat), what was paid for (store), this machine
(local), vectors (similarity), prompts.
"""
