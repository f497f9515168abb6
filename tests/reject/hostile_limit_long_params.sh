#!/usr/bin/env bash
# expect: 65 s.lua:2: sim.param: the default of 'p1' is longer than 64 KiB
command -v python3 >/dev/null || exit 125
exec python3 "${BASH_SOURCE[0]%/*}/hostile_limits.py" long_params
