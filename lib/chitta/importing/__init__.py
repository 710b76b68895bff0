"""Readers of what people already have: each turns a foreign form into notes and says what it passed over."""
