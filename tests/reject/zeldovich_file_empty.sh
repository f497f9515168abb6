#!/usr/bin/env bash
# expect: 65 power.txt: holds no numbers
printf '# nothing\n' >power.txt
. "${BASH_SOURCE[0]%/*}/zeldovich_file.bash"
