"""What may be kept: secrets, private spans and likely instructions to a model."""
