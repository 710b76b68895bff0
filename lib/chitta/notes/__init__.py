"""The store: Markdown notes, their identifiers and the realms they belong to.

Everything else that chitta keeps about a note is derived from these files and can be rebuilt.
"""
