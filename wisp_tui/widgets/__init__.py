"""The widgets: they take values and post messages, and know no thread."""
