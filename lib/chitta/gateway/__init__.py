"""The gateway: index, models and ranking joined into the answer of a lane or of ``chitta recall``."""
