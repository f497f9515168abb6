# Sourced by the cases that need a scenario (s.lua) or a run to damage (s.out, with checkpoints of its last three steps).
# shellcheck shell=bash
set -u
cat >s.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, t_end = 1/8 },
  output    = { checkpoint = "every 1 steps" },
}
LUA
make_run() {
  "$SIM" run s.lua >make.log 2>&1 || { cat make.log && exit 99; }
  mapfile -t checkpoints < <(find s.out/ckpt -name 'ck_*.h5' | sort)
  [ "${#checkpoints[@]}" = 3 ] || exit 98
}
# overwrite FILE OFFSET BYTES
overwrite() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
