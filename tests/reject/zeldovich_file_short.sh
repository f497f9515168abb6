#!/usr/bin/env bash
# expect: 65 power.txt:3: expected 2 finite numbers, column 2 is none
printf 'k,P\n0.01 1\n0.1\n' >power.txt
. "${BASH_SOURCE[0]%/*}/zeldovich_file.bash"
