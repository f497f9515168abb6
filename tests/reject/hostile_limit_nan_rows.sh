#!/usr/bin/env bash
# expect: 65 bodies[1].mass[1]: expected a finite number
command -v python3 >/dev/null || exit 125
exec python3 "${BASH_SOURCE[0]%/*}/hostile_limits.py" nan_rows
