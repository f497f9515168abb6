#!/usr/bin/env bash
# A full disk, a limit on file sizes, a folder without write permission: the run continues, and old checkpoints stay
# good.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua
# A checkpoint of 2000 bodies: 7 arrays of doubles, about 110 kB.
run=("$SIM" run s.lua --set n=2000 --set steps=30 --set "every=every 5 steps")
expect 0 "" "${run[@]}" -o whole

# No file above 60 kB: every checkpoint fails, and none is left half written. After the second one the run stops,
# because its results could not be saved.
code=0
(ulimit -f 60 && exec timeout 60 "${run[@]}" -o limit) >output 2>&1 || code=$?
[ "$code" = 74 ] || fail "file size limit: exit $code, not 74"
grep -q "two checkpoints in a row could not be written .*: File too large" output || fail "file size limit: the line"
grep -q "there is no checkpoint to continue from: mend the cause, then run it again with --force" output || fail "what to do"
"$SIM" status limit >table
awk 'NR == 2 { exit !($2 " " $3 " " $4 " " $5 == "failed 74 0 %") }' table || fail "status of a run that saved nothing: $(cat table)"
[ -z "$(checkpoints limit)" ] || fail "file size limit: a checkpoint that cannot be whole"
[ "$(find limit -name '*tmp*' | wc -l)" = 0 ] || fail "file size limit: temporary files are left"

# The same for a snapshot alone: a run whose last snapshot is missing has not succeeded.
code=0
(ulimit -f 60 && exec timeout 60 "$SIM" run s.lua --set n=2000 --set steps=30 --set every=never -o snapless) >output 2>&1 ||
  code=$?
[ "$code" = 74 ] || fail "a lost snapshot: exit $code, not 74"
grep -q "snapshot" output || fail "a lost snapshot is not named"
grep -q "snapshots or slices could not be written: [12]; run.log names them" output || fail "lost snapshots are not counted"
[[ "$(key remark snapless)" = *"could not be written: "* ]] || fail "lost snapshots are not in status.json"

# A folder without write permission, for a user other than root.
mkdir closed && chmod 555 closed
if [ "$(id -u)" != 0 ]; then
  expect 77 closed "${run[@]}" -o closed/out
elif command -v setpriv >/dev/null; then
  chmod 755 "$scratch"
  expect 77 closed setpriv --reuid=65534 --regid=65534 --clear-groups "${run[@]}" -o closed/out
fi
[ ! -e closed/out ] || fail "a folder in a closed folder"

# A disk that becomes full, on a file system of 2 MB.
mkdir small
mount -t tmpfs -o size=2m none small 2>/dev/null || skip "the full disk: no right to mount a small file system"
mounted=$scratch/small
cp -r whole small/out
rm -- small/out/ckpt/ck_0000000000{30,25}.h5
good=$(checkpoints small/out)
cp -- "$good" good.h5
dd if=/dev/zero of=small/filler bs=4k >/dev/null 2>&1 || true
expect 74 "" "$SIM" resume small/out
cmp -- "$good" good.h5 || fail "full disk: the old checkpoint was touched"
[ "$(checkpoints small/out | wc -l)" = 1 ] || fail "full disk: a checkpoint that cannot be whole"
grep -q "No space left on device.*; free space, then: sim resume small/out (continues from step 20)" output || fail "full disk: what to do"
[ "$("$SIM" status small/out | awk 'NR == 2 { print $2, $3, $4 }')" = "failed 74 67" ] || fail "full disk: $("$SIM" status small/out)"
rm small/filler
expect 0 "" "$SIM" resume small/out
same whole small/out "full disk, then room again"

# Full only for a while: later checkpoints succeed.
rm -rf small/out
expect 0 "" "${run[@]}" -o small/out
same whole small/out "a small disk that suffices"
