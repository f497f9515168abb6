#!/usr/bin/env bash
# expect: 65 rate.txt
printf '0 0.01\n0.5 x\n' >rate.txt
. "${BASH_SOURCE[0]%/*}/option_file.bash"
