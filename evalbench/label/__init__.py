"""Plan, page and merge of human labels."""
