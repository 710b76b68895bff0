"""The daemon: models and index kept open in one process per store, asked over a private socket."""
