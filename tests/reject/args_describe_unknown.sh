#!/usr/bin/env bash
# expect: 64 nbody
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" describe nbodi
