"""The core of wisp: files are the vocabulary, folders are rooms, and rooms never import rooms."""
