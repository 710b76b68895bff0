"""Forty sample notes in three realms (notes/) and four prompts that show what recall does with them (prompts.json)."""
