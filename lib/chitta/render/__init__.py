"""Render: the block that the model reads, and the envelope that its harness expects. Pure."""
