#!/usr/bin/env bash
# Files that the hosts of a run write together, through the command (tests/io/io_hosts.c has larger files, and
# failures): the same as those of one rank for every number of hosts and ranks, valid seals, restarts.
. "${BASH_SOURCE[0]%/*}/lib.sh"
: "${COMPARE:?the program crash_compare}"
export CUDA_VISIBLE_DEVICES="" OMP_WAIT_POLICY=passive

cat >s.lua <<'LUA'
local steps = sim.param("steps", 2, "steps")
return sim.nbody {
  bodies    = { sim.plummer { n = 25000, mass = 1, radius = 1, species = "stars" },
                sim.plummer { n = 15000, mass = 2, radius = 1, species = "dark" } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = steps/1024 },
  precision = "single",
  output    = { snapshots = "every 1 steps", tables = "every 1 steps", checkpoint = "every 1 steps" },
}
LUA
run=("$SIM" run s.lua --threads 1)
from=SIM_IO_SHARED_FROM=1000000

equal() { # equal DIR WHAT: as the run of one rank; in length too, but for provenance, which names command and device
  local file longer
  same one "$1" "$2"
  for file in one/snap/*.h5 one/ckpt/*.h5 one/tables.h5; do
    file=${file#one/}
    "$COMPARE" "one/$file" "$1/$file" >output 2>&1 || fail "$2: $file differs"
    longer=$(($(stat -c %s "$1/$file") - $(stat -c %s "one/$file")))
    ((longer >= -2048 && longer <= 2048)) || fail "$2: $file is longer by $longer bytes"
  done
}
# Reading a file as an input checks its seal.
cat >read.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.from_file { path = sim.param("path", ""), species = "stars" } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = 1/1024 },
}
LUA
sealed() { # sealed DIR WHAT: every snapshot; a resumed run checks its checkpoint
  local file
  for file in "$1"/snap/*.h5; do
    expect 0 "" "$SIM" check read.lua --set "path=$PWD/$file"
  done
}

expect 0 "" "${run[@]}" -o one
for shape in "2 2" "3 4"; do
  # shellcheck disable=SC2086 # two words
  set -- $shape
  expect 0 "" env SIM_COMM_HOSTS="$1" $from "${run[@]}" -o many --force --ranks "$2"
  equal many "$1 hosts, $2 ranks"
  sealed many
done
expect 0 "" env SIM_COMM_HOSTS=3 SIM_COMM_DELAY=3000 $from "${run[@]}" -o many --force --ranks 3
equal many "3 hosts with delays"

rm many/ckpt/ck_000000000002.h5
expect 0 "continues from checkpoint ck_000000000001.h5" env SIM_COMM_HOSTS=2 $from "$SIM" resume many --ranks 2 --threads 1
equal many "resumed on 2 hosts"
