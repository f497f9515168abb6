#!/usr/bin/env bash
# Diffusion on a GPU: taken by itself for what the CPU computes too, the same bits twice, after a kill, and for the
# scheme exact, which jumps.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
diffusion_scenario d.lua
for scheme in exact lie etdrk4; do
  options=(--set "scheme=$scheme")
  expect 0 "(GPU 0)" "$SIM" run d.lua -o one.out "${options[@]}"
  expect 0 "(GPU 0)" "$SIM" run d.lua -o two.out --device cuda "${options[@]}"
  same one.out two.out "$scheme, twice"
  rm -rf one.out two.out
done

# Killed once it has a checkpoint: the run goes on to the same end.
options=(--device cuda --set steps=20000)
expect 0 "" "$SIM" run d.lua -o whole.out "${options[@]}"
"$SIM" run d.lua -o cut.out "${options[@]}" >output 2>&1 &
saved() { [ -n "$(checkpoints cut.out)" ]; }
until_true 60 saved
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
expect 0 "" "$SIM" resume cut.out
same whole.out cut.out "killed and resumed"
