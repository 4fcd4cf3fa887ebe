"""Starts wisp-tui as `python -m wisp_tui`."""

import sys

from wisp_tui.main import main

sys.exit(main())
