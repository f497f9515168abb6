#!/usr/bin/env bash
# expect: 65 rate.txt
: >rate.txt
. "${BASH_SOURCE[0]%/*}/option_file.bash"
