#!/usr/bin/env bash
# expect: 64 nearest
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" chekc
