#!/usr/bin/env bash
# expect: 66 rate.txt
:
. "${BASH_SOURCE[0]%/*}/option_file.bash"
