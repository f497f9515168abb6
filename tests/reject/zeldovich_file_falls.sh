#!/usr/bin/env bash
# expect: 65 f.lua:4: bodies[1].power: expected k > 0 and rising, and P > 0, got { 10, 1 } in row 3
printf '0.01 1\n100 1\n10 1\n' >power.txt
. "${BASH_SOURCE[0]%/*}/zeldovich_file.bash"
