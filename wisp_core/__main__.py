"""Lets `python -m wisp_core` be `wisp`."""

from wisp_core.cli.main import main

raise SystemExit(main())
