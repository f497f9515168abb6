#!/usr/bin/env bash
# expect: 65 rate.txt: row 3: expected a time after that of the row before
printf '0 0.01\n0.5 0.02\n0.25 0.03\n' >rate.txt
. "${BASH_SOURCE[0]%/*}/option_file.bash"
