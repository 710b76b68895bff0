"""What chitta does at the edges of a session: as it starts, as a subagent starts, and when it is put away."""
