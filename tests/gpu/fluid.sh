#!/usr/bin/env bash
# Fluids on a GPU: taken automatically, the same bits twice, after a kill and in a resumed run; a state of the CPU is
# refused.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
fluid_scenario f.lua
for rank in 2 3; do
  for kind in single double half; do
    for with in none heat sponge motion trt; do
      if [ $kind = half ] && [ $with != trt ]; then continue; fi
      options=(--set "rank=$rank" --set "kind=$kind" --set "with=$with")
      expect 0 "(GPU 0)" "$SIM" run f.lua -o one.out "${options[@]}"
      expect 0 "(GPU 0)" "$SIM" run f.lua -o two.out --device cuda "${options[@]}"
      same one.out two.out "$rank axes, $kind, $with, twice"
      rm -rf one.out two.out
    done
  done
done

for with in stl flux warm_sponge grains timed timed_trt; do
  options=(--set kind=single --set "with=$with")
  expect 0 "(GPU 0)" "$SIM" run f.lua -o one.out "${options[@]}"
  expect 0 "(GPU 0)" "$SIM" run f.lua -o two.out --device cuda "${options[@]}"
  same one.out two.out "$with, twice"
  rm -rf one.out two.out
done

killed f.lua --set steps=20000 --set kind=single
rm -rf whole.out cut.out
killed f.lua --set steps=20000 --set kind=half --set with=trt
rm -rf whole.out cut.out
killed f.lua --set steps=5000 --set kind=single --set with=grains
rm -rf whole.out cut.out
killed f.lua --set steps=10000 --set kind=single --set with=timed
rm -rf whole.out cut.out
killed f.lua --set steps=10000 --set kind=double --set with=timed_trt

# Each device has its own order of the moments.
"$SIM" run f.lua -o cpu.out --device cpu --set steps=1e6 >output 2>&1 &
saved() { [ -n "$(checkpoints cpu.out)" ]; }
until_true 60 saved
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
expect 78 "moments on cuda" "$SIM" resume cpu.out --device cuda
