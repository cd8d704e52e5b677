"""Words, sentences, numbers and quotations found in texts of any language, without a model."""
