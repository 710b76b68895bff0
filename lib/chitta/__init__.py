"""chitta: prompt-time memory for people who work with coding agents."""

__version__ = "0.1.0"
