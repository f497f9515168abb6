#!/usr/bin/env bash
# expect: 0 digest
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
before=$(sed -n "s/.*\"digest\"[: ]*\"\([0-9a-f]*\)\".*/\1/p" s.out/status.json)
rm "${checkpoints[2]}"
echo half >s.out/ckpt/.ck_000000000008.h5.tmp
"$SIM" resume s.out || exit
[ ! -e s.out/ckpt/.ck_000000000008.h5.tmp ] || exit 97
grep -q "$before" s.out/status.json || exit 96
echo "the same digest" >&2
