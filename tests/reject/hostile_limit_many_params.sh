#!/usr/bin/env bash
# expect: 65 the scenario holds more than 64 MiB
command -v python3 >/dev/null || exit 125
exec python3 "${BASH_SOURCE[0]%/*}/hostile_limits.py" many_params
