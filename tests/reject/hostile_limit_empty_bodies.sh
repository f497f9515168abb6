#!/usr/bin/env bash
# expect: 65 bodies[1].n: missing
command -v python3 >/dev/null || exit 125
exec python3 "${BASH_SOURCE[0]%/*}/hostile_limits.py" empty_bodies
