"""Keeping the store good: what is double or replaced, what proved right, what faded, what still waits for a person."""
