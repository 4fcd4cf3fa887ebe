"""The slash commands, one class each, shared by the faces."""
