"""What a session has shown, as notes: read from transcripts and from hook payloads, without a model."""
