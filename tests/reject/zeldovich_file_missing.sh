#!/usr/bin/env bash
# expect: 66 power.txt
. "${BASH_SOURCE[0]%/*}/zeldovich_file.bash"
