"""The slash commands, one class each, shared by every face."""
