"""The terminal face of wisp: a Textual program over the core's threads."""
