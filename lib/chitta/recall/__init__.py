"""Recall: the arithmetic of ranking. Pure functions over rankings and evidence; no I/O."""
