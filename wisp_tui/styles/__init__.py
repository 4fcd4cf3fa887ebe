"""The style sheets."""
