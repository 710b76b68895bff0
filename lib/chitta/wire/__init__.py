"""The wire: what a request, a row and a frame look like. The file format lives only here."""
