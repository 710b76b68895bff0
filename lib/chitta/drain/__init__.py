"""From the queue of transcripts to notes: which are worth reading, what they say, and what it cost."""
