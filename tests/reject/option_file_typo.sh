#!/usr/bin/env bash
# expect: 65 rate.txt:1: column 1 is neither a number nor a name
printf 'O.1 0.01\n0.5 0.02\n' >rate.txt
. "${BASH_SOURCE[0]%/*}/option_file.bash"
