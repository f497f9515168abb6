#!/usr/bin/env bash
# kill.sh [COUNT]: kills runs COUNT times (10) by SIGKILL, in turn of each model, resumes them each time, and compares
# with an undisturbed run: the digest, and every value and attribute of all snapshots, slices and tables. Every second
# kill waits until a checkpoint is being written; the others come at a random time. SEED repeats a sequence.
COMPARE=$(readlink -f -- "${COMPARE:?the program crash_compare}")
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
count=${1:-10}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
models=(nbody collision diffusion option fluid)
echo "seed $seed"

# Checkpoints so often that writing them takes half of the time.
output='output = { snapshots = snapshots, tables = "every 7 steps", checkpoint = every'
cat >nbody.lua <<LUA
local every, steps = sim.param("every", "never"), sim.param("steps", 3000)
local snapshots = "every 100 steps"
return sim.nbody {
  bodies    = { sim.plummer { n = 64, mass = 1, radius = 1, species = "stars" } },
  gravity   = { softening = 0.05 },
  integrate = { dt = 1/1024, t_end = steps/1024 },
  $output } }
LUA
cat >collision.lua <<LUA
local every, steps = sim.param("every", "never"), sim.param("steps", 1500)
local snapshots = "every 50 steps"
return sim.collision {
  box       = { size = {2, 2, 4}, boundary = "wall", z_low = "outlet" },
  grains    = { sim.random_spheres { n = 60, radii = {0.08, 0.12}, low = {0, 0, 1}, high = {2, 2, 2} } },
  insert    = { sim.inlet { rate = 800, radii = {0.08, 0.12}, low = {0, 0, 2}, high = {2, 2, 4}, velocity = {0, 0, -1},
                            species = "rain" } },
  gravity   = {0, 0, -10},
  contact   = { law = "hertz", young = 2e5, restitution = 0.5, friction = 0.4 },
  integrate = { dt = 1e-4, t_end = 1e-4 * steps },
  $output } }
LUA
cat >diffusion.lua <<LUA
local every, steps = sim.param("every", "never"), sim.param("steps", 1500)
local snapshots = "every 60 steps"
return sim.diffusion {
  grid   = { n = {32, 32}, size = {1, 1}, boundary = "periodic" },
  fields = { { name = "u", D = 0.001, initial = function(x, y) return math.sin(2 * math.pi * x) + 0.1 * y end } },
  rates  = function(u) return 0.1 * (u - u^3) end,
  integrate = { scheme = "lie", dt = 2^-7, t_end = steps * 2^-7 },
  $output,
             slices = { { name = "middle", y = 0.5, when = "every 40 steps" } } } }
LUA
cat >option.lua <<LUA
local every, steps = sim.param("every", "never"), sim.param("steps", 400)
local snapshots = "never"
return sim.option {
  assets   = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 16,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { paths = 2048 * steps },
  $output } }
LUA
cat >fluid.lua <<LUA
local every, steps = sim.param("every", "never"), sim.param("steps", 1500)
local snapshots = "every 60 steps"
return sim.fluid {
  precision = "single",
  grid      = { n = {40, 24}, size = {40, 24}, boundary = "wall", y = "slip" },
  viscosity = 0.01, speed = 0.1, turbulence = { smagorinsky = 0.15 },
  sides     = { x_low = { velocity = {0.05, 0} }, x_high = { pressure = 0 } },
  bodies    = { sim.ball { name = "ball", point = {12.3, 11.8, 0}, radius = 4.2, spin = 0.01 } },
  integrate = { dt = 0.5, t_end = 0.5 * steps },
  $output,
                slices = { { name = "middle", y = 12, when = "every 40 steps" } } } }
LUA

# all_files DIR: the files to compare, by name.
all_files() { (cd "$1" && find . \( -path './snap/*.h5' -o -path './slices/*.h5' -o -name tables.h5 \) | sort); }
# compare DIR DIR WHAT
compare() {
  local pairs=() file
  same "$1" "$2" "$3"
  [ "$(all_files "$1")" = "$(all_files "$2")" ] || fail "$3: other files: $(diff <(all_files "$1") <(all_files "$2"))"
  while read -r file; do pairs+=("$1/$file" "$2/$file"); done < <(all_files "$1")
  "$COMPARE" "${pairs[@]}" >output 2>&1 || fail "$3"
  [ -z "$(find "$2" -name '*.tmp' -o -name tables.rows)" ] || fail "$3: a temporary file is left"
}

# writing: a file in ckpt/ is not yet a checkpoint.
writing() { [ -n "$(find run/ckpt -type f ! -name 'ck_*.h5' 2>/dev/null | head -n 1)" ]; }
kills=0 rounds=0 during=0 turn=0
while ((kills < count)); do
  model=${models[turn++ % 5]}
  arguments=("$model.lua" --device cpu --threads 1)
  if [ ! -d "whole-$model" ]; then
    begin=$(date +%s%N)
    expect 0 "" "$SIM" run "${arguments[@]}" -o "whole-$model"
    longest=$((($(date +%s%N) - begin) / 2000000)) # milliseconds: about the half of a run
    declare "pause_$model=$((longest < 20 ? 20 : longest > 400 ? 400 : longest))"
    [ -n "$(all_files "whole-$model")" ] || fail "$model: nothing to compare"
  fi
  pause=pause_$model
  rm -rf -- run
  rounds=$((rounds + 1)) last=$((kills + (count + 11) / 12))
  ((last > kills + 1)) || last=$((kills + 2))
  ((last < count)) || last=$count
  command=("$SIM" run "${arguments[@]}" --set "every=every 2 steps" -o run)
  while :; do
    "${command[@]}" >output 2>&1 &
    pid=$!
    if ((kills >= last)); then
      wait "$pid" || fail "$model, kill $kills, seed $seed: the last resume exits $?"
      break
    fi
    sleep "0.$(printf '%03d' $((RANDOM % ${!pause})))"
    if ((kills % 2)); then
      tries=100
      while ((tries-- > 0)); do
        if writing; then
          during=$((during + 1))
          break
        fi
      done
    fi
    kill -KILL "$pid" 2>/dev/null || true
    code=0
    wait "$pid" 2>/dev/null || code=$?
    case $code in
      137) kills=$((kills + 1)) ;;
      0) break ;;
      *) fail "$model, kill $kills, seed $seed: exit $code" ;;
    esac
    # Before the first checkpoint a run cannot be resumed: the start is repeated.
    if [ -n "$(checkpoints run)" ]; then
      command=("$SIM" resume run)
    else
      command=("$SIM" run "${arguments[@]}" --set "every=every 2 steps" -o run --force)
    fi
  done
  compare "whole-$model" run "$model, after $kills kills, seed $seed"
done
echo "$kills kills ($during while a checkpoint was written) in $rounds runs: equal digests, snapshots, slices and tables"
