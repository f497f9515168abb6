"""``python -m simview``."""

from simview.cli import main

raise SystemExit(main())
