#!/usr/bin/env bash
# expect: 65 and 1999
command -v python3 >/dev/null || exit 125
exec python3 "${BASH_SOURCE[0]%/*}/hostile_limits.py" unknown_keys
