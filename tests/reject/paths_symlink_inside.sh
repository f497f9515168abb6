#!/usr/bin/env bash
# expect: 73 ckpt
. "${BASH_SOURCE[0]%/*}/small.bash"
# Checkpoints do not go where somebody points them to.
make_run
mkdir elsewhere
echo mine >elsewhere/ck_000000000001.h5
rm -r s.out/ckpt
ln -s ../elsewhere s.out/ckpt
"$SIM" run s.lua --force
code=$?
[ "$(cat elsewhere/ck_000000000001.h5)" = mine ] || exit 97
exit "$code"
