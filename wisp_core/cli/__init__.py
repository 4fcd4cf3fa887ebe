"""The face for a plain terminal and for programs: `wisp`."""
