#!/usr/bin/env bash
# expect: 65 s.lua:3: the scenario holds more than 500000 values
command -v python3 >/dev/null || exit 125
exec python3 "${BASH_SOURCE[0]%/*}/hostile_limits.py" many_bodies
