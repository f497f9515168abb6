#!/usr/bin/env bash
# expect: 65 power.txt:1: expected 2 numbers, got more
printf '0.01 1 2\n' >power.txt
. "${BASH_SOURCE[0]%/*}/zeldovich_file.bash"
