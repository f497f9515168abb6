#!/usr/bin/env bash
# Unusual environments change nothing, or are refused in one line.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua
expect 0 "" "$SIM" run s.lua -o whole

# Closed descriptors: the next files to be opened get their numbers, and no output may go into them.
code=0
timeout 60 "$SIM" run s.lua -o stdout >&- 2>output || code=$?
[ "$code" = 0 ] || fail "closed stdout: exit $code"
same whole stdout "closed stdout"
code=0
timeout 60 "$SIM" run s.lua -o three <&- >&- 2>&- || code=$?
[ "$code" = 0 ] || fail "closed descriptors 0 to 2: exit $code"
same whole three "closed descriptors 0 to 2"
for folder in stdout three; do
  expect 0 "" "$SIM" resume "$folder"
  [ "$(head -c 100 "$folder/status.json" | head -c 1)" = "{" ] || fail "$folder: status.json"
done
if [ -c /dev/full ]; then
  code=0
  timeout 60 "$SIM" run s.lua -o full >/dev/full 2>output || code=$?
  [ "$code" = 0 ] || [ "$code" = 74 ] || fail "stdout on a full disk: exit $code"
  same whole full "stdout on a full disk"
fi
# A reader that has closed the pipe.
{ timeout 60 "$SIM" run s.lua -o pipe -v 2>&1 || echo "exit $?" >pipe.code; } | true
until_true 120 test -f pipe/status.json
until_true 120 eval '[ "$(key state pipe)" = done ]'
same whole pipe "a closed pipe"

# A locale with a decimal comma.
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >/dev/null 2>&1; then
  # glibc itself leaks the path of its locales.
  expect 0 "" env ASAN_OPTIONS=detect_leaks=0 LOCPATH="$scratch" LC_ALL=de_DE.UTF-8 "$SIM" run s.lua -o comma
  same whole comma "a decimal comma"
  grep -qE '"time" *: *[0-9]+,[0-9]+,' comma/status.json && fail "a decimal comma in status.json"
fi
expect 0 "" env LC_ALL=xx_XX "$SIM" run s.lua -o locale
same whole locale "an unknown locale"

# Threads and devices.
for threads in abc -1 0 99999999999 ""; do
  rm -rf omp
  expect 0 "" env OMP_NUM_THREADS="$threads" "$SIM" run s.lua -o omp
  same whole omp "OMP_NUM_THREADS=$threads"
done
# Without a visible GPU a run takes the CPU, as with --device cpu.
expect 0 "" "$SIM" run s.lua -o cpu --device cpu
expect 0 "" env CUDA_VISIBLE_DEVICES= "$SIM" run s.lua -o visible
same cpu visible "empty CUDA_VISIBLE_DEVICES"
expect 0 "" env CUDA_VISIBLE_DEVICES= "$SIM" info
expect 69 "cuda" env CUDA_VISIBLE_DEVICES= "$SIM" run s.lua -o cuda --device cuda
[ ! -e cuda ] || fail "a refused run left a folder"

# Without HOME, TERM and PATH; and from a folder that was removed.
expect 0 "" env -i "$SIM" run s.lua -o bare
same whole bare "an empty environment"
mkdir gone
(cd gone && rmdir ../gone && timeout 60 "$SIM" run "$scratch/s.lua" -o "$scratch/gone.out") >output 2>&1 ||
  fail "from a folder that is gone"
same whole gone.out "from a folder that is gone"
