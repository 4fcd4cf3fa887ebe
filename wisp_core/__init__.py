"""The core of wisp: files are the vocabulary, folders are rooms, and rooms never import rooms."""

__version__ = "0.1.0"
