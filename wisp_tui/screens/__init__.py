"""The screens, each reached by a key, a slash command and the palette."""
