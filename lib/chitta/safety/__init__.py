"""What may be kept: secrets, private spans and likely instructions to a model."""

#: Key of a note's ``extra`` that holds the reasons of a suspicion, in words.
SUSPECTED = "suspected"
#: Key by which a person lets a note out of quarantine for good.
TRUSTED = "trusted"
#: The command in the reason of a note whose name or kind is a secret: only another name lets it out.
RENAMING = "chitta doctor --secrets --redact"
