#!/usr/bin/env bash
# campaign.sh COUNT|all [FIRST]: resumes runs of every model from checkpoints that RESEAL has changed and sealed anew:
# COUNT mutations of each scenario, spread over all possible ones, or all of them. Each must end with a documented exit
# code in 20 s, or stop with 75 when it is asked to then, without a crash and without a report of a sanitizer. A
# mutation that ends otherwise is kept as ./FAILED.*.h5 in the folder from which the script is called.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
: "${RESEAL:?the program reseal}"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} OMP_NUM_THREADS=1
count=${1:-5} first=${2:-0} jobs=${JOBS:-2} keep=$OLDPWD

# Each run stops in the middle of the steps after its first checkpoint.
mkdir scenarios
cat >scenarios/nbody.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 20, mass = 1, radius = 1 },
                { mass = 0.1, position = {3, 0, 0}, velocity = {0, 0.5, 0}, species = "planet" } },
  gravity   = { softening = 0.1 },
  integrate = { scheme = "hermite4", dt = "adaptive", t_end = 1/8 },
  output    = { snapshots = "never", tables = "every 1 steps", checkpoint = "every 4 steps" },
}
LUA
for scheme in ias15 whfast; do
  cat >scenarios/$scheme.lua <<LUA
local few = "$scheme" == "ias15"
return sim.nbody {
  bodies    = { { species = "sun", mass = 1, radius = few and 0.05 or 0 },
                { species = "planet", mass = 1e-3, radius = few and 0.01 or 0, orbit = { a = 1, e = 0.2, inc = 3, M = 40 } },
                { species = "comet", mass = 1e-4, orbit = { a = -1, e = 1.05, inc = 30, M = -50 } } },
  merge     = few, escape = few and { radius = 2.5 } or nil, orbits = "sun",
  integrate = { scheme = "$scheme", dt = few and "adaptive" or 1/16, t_end = 4 },
  output    = { snapshots = "never", tables = "every 0.3", checkpoint = "every 8 steps" },
}
LUA
done
cat >scenarios/bed.lua <<'LUA'
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "wall" },
  gravity   = {0, 0, -10},
  grains    = { sim.random_spheres { n = 40, radius = 0.05, density = 1000, material = "glass" },
                sim.random_spheres { n = 10, radius = 0.06, density = 1000, material = "iron", species = "iron" } },
  contact   = { law = "linear", contact_time = 0.01, restitution = 0.8, friction = 0.5 },
  gates     = { { point = {0.5, 0.5, 0.5}, normal = {0, 0, -1} } },
  integrate = { dt = "auto", t_end = 0.02 },
  output    = { snapshots = "never", tables = "every 0.01", checkpoint = "every 8 steps" },
}
LUA
cat >scenarios/silo.lua <<'LUA'
return sim.collision {
  box       = { size = {0.08, 0.08, 0.16}, origin = {-0.04, -0.04, -0.04}, boundary = "open", z_low = "outlet" },
  grains    = { sim.random_spheres { n = 60, radius = 0.002, density = 2500, low = {-0.01, -0.01, 0.03},
                                     high = {0.01, 0.01, 0.06} } },
  walls     = { sim.cone { point = {0, 0, 0}, axis = {0, 0, 1}, length = 0.02, radius = 0.01, end_radius = 0.03 } },
  insert    = { sim.inlet { rate = 6000, radius = 0.002, density = 2500, low = {-0.018, -0.018, 0.1},
                            high = {0.018, 0.018, 0.118}, velocity = {0, 0, -0.3} } },
  gravity   = {0, 0, -9.81},
  contact   = { law = "linear", contact_time = 2.5e-4, restitution = 0.6, friction = 0.4, rolling_friction = 0.05 },
  integrate = { dt = "auto", t_end = 0.003 },
  output    = { snapshots = "never", tables = "every 0.001", checkpoint = "every 100 steps" },
}
LUA
cat >scenarios/gas.lua <<'LUA'
return sim.collision {
  precision = "single",
  box       = { size = {1, 1, 1}, boundary = "periodic" },
  grains    = { sim.random_spheres { n = 60, radius = 0.05, temperature = 1e-4 } },
  contact   = { law = "linear", contact_time = 0.01, restitution = 0.9 },
  integrate = { dt = "auto", t_end = 0.02 },
  output    = { snapshots = "never", tables = "every 0.01", checkpoint = "every 8 steps" },
}
LUA
for kind in fixed auto; do
  cat >scenarios/diffusion_$kind.lua <<LUA
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = function(x, y) return 1 + 0.1 * math.sin(2 * math.pi * x) end } },
  rates     = function(u) return u * (1 - u) end,
  integrate = { $([ $kind = auto ] && echo 'dt = "auto", scheme = "etdrk4", rtol = 1e-6, atol = 1e-9' || echo 'scheme = "strang", dt = 0.01'), t_end = 0.2 },
  output    = { snapshots = "never", tables = "every 0.05", checkpoint = "every 4 steps" },
}
LUA
done
cat >scenarios/option.lua <<'LUA'
return sim.option {
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = 0.05,
  maturity = 1,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { paths = 2^19, standard_error = 1e-2 },
  output   = { checkpoint = "every 1 steps" },
}
LUA
cat >scenarios/fluid.lua <<'LUA'
return sim.fluid {
  grid      = { n = {20, 12}, size = {20, 12}, boundary = "wall", y = "slip" },
  viscosity = 0.02, speed = 0.1, turbulence = { smagorinsky = 0.15 },
  sides     = { x_low = { velocity = {0.05, 0} }, x_high = { pressure = 0 } },
  bodies    = { sim.ball { point = {6.3, 5.8, 0}, radius = 3.2, spin = 0.01 } },
  integrate = { dt = 1, t_end = 40 },
  output    = { snapshots = "never", tables = "every 10", checkpoint = "every 8 steps" },
}
LUA

# one SCENARIO NUMBER WORK: resumes from that mutation; prints what went wrong.
one() {
  local name=$1 number=$2 work=$3 what code=0
  rm -rf "$work"
  mkdir -p "$work/ckpt" "$work/snap"
  cp "$name.out/tables.h5" "$work/" 2>/dev/null || true
  what=$("$RESEAL" mutate "first/$name.h5" "$work/ckpt/$(cat "first/$name")" "$number") || { echo "reseal failed: $name $number"; return; }
  timeout --preserve-status -k 60 20 "$SIM" resume "$work" >"$work.log" 2>&1 || code=$?
  if ! [[ " 0 65 71 74 75 78 80 " == *" $code "* ]] || grep -qE 'Sanitizer|runtime error' "$work.log"; then
    cp "$work/ckpt/$(cat "first/$name")" "$keep/FAILED.$name.$number.h5" 2>/dev/null || true
    echo "$name, mutation $number ($what): exit $code: $(grep -E 'Sanitizer|runtime error|sim:' "$work.log" | head -n 1)"
  fi
}

mkdir first
for scenario in scenarios/*.lua; do
  name=$(basename "$scenario" .lua)
  # The first checkpoint of a run: later ones replace it, so it is linked under another name as soon as it exists.
  expect 0 "digest" "$SIM" "$scenario" -o "$name.out"
  oldest=$(checkpoints "$name.out" | head -n 1)
  [ -n "$oldest" ] || fail "$name: no checkpoint"
  cp "$oldest" "first/$name.h5"
  basename "$oldest" >"first/$name"
  all=$("$RESEAL" count "first/$name.h5")
  if [ "$count" = all ]; then step=1 some=$all; else step=$((all / count | 1)) some=$count; fi
  for ((k = 0; k < some; k++)); do printf '%s %s\n' "$name" $(((first + k * step) % all)); done
done >list
# This once wrote outside an array on the stack: all grains of a material that does not exist.
known=$("$RESEAL" find first/bed.h5 state/material 12)
printf 'bed %s\n' "$known" >>list
mkdir -p known/ckpt known/snap
"$RESEAL" mutate first/bed.h5 "known/ckpt/$(cat first/bed)" "$known" >/dev/null
expect 78 "is a material that is not there" "$SIM" resume known

worker() {
  local k=0 name number
  while read -r name number; do
    ((k++ % jobs == $1)) || continue
    one "$name" "$number" "$PWD/work$1"
  done <list
}
for ((j = 0; j < jobs; j++)); do worker "$j" >"faults$j" & done
wait
cat faults* >faults
[ ! -s faults ] || { cat faults && fail "$(wc -l <faults) of $(wc -l <list) mutations ended as none may"; }
echo "$(wc -l <list) mutations of $(ls scenarios | wc -l) scenarios: none crashed"
