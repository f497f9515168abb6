#!/usr/bin/env bash
# expect: 65 power.txt:2: expected 2 finite numbers, column 1 is none
printf '0.01 1\n0x10 1\n' >power.txt
. "${BASH_SOURCE[0]%/*}/zeldovich_file.bash"
