#!/usr/bin/env bash
# Runs of options that stop at any checkpoint and go on equal the undisturbed run: digest, every value of the tables,
# and the last lines, which have ladders and levels too. One case for each kind of sums, samplers and starts that a run has.
COMPARE=$(readlink -f -- "${COMPARE:?the program crash_compare}")
. "${BASH_SOURCE[0]%/*}/../lib.sh"

# The last lines without times and folders.
said() { sed -n '/^done/,$p' output | grep -E '^  ' | grep -Ev '^  (output|draw it|digest)'; }
# equal DIR DIR WHAT: the same digest, and the same tables.
equal() {
  same "$1" "$2" "$3"
  "$COMPARE" "$1/tables.h5" "$2/tables.h5" >output 2>&1 || fail "$3"
}

# resumed NAME ASSETS PAYOFFS SAMPLING REST: stops at each checkpoint, continues on other threads and ranks. An accuracy
# that is never reached makes steps of a quarter of the size.
resumed() {
  local name=$1 precision file later last words
  cat >"$name.lua" <<LUA
return sim.option { assets = { $2 }, rate = sim.curve { {0, 0.03}, {1, 0.06} }, maturity = 1, steps = 4, seed = 3,
  payoffs = { $3 }, sampling = { $4, paths = sim.param("paths", 600000) }, precision = sim.param("precision", "double"),
  ${5:+$5,} output = { tables = "every 1 steps", checkpoint = sim.param("every", "every 1 steps") } }
LUA
  for precision in double mixed; do
    [[ $precision = double || $4 != *standard_error* ]] || continue
    words=("$name.lua" --device cpu --force --set "precision=$precision")
    expect 0 "" "$SIM" run "${words[@]}" -o whole --set every=never --threads 2
    last=$(said)
    expect 0 "" "$SIM" run "${words[@]}" -o run --threads 1
    equal whole run "$name, $precision, with checkpoints"
    for file in $(checkpoints run); do
      rm -rf -- again
      cp -r run again
      for later in $(checkpoints again); do [[ ! ${later##*/} > ${file##*/} ]] || rm -- "$later"; done
      expect 0 "" "$SIM" resume again --threads 3 --ranks 2
      [[ $file = $(checkpoints run | tail -n 1) || $(said) = "$last" ]] || fail "$name: other last lines after $file"
      equal whole again "$name, $precision, from ${file##*/}"
    done
  done
}

one='{ spot = 100, vol = 0.2 }'
heston='heston = { v = 0.04, kappa = 1.5, theta = 0.05, sigma = 0.5, rho = -0.7 }'
european='sim.european { strike = 100 }'
put='sim.american { strike = 100, type = "put", fit_paths = 4096 }'
never='standard_error = 1e-9'
resumed tails '{ spot = 100, vol = 3 }' 'sim.european { strike = 1 }, sim.european { strike = 1e5 }' "$never"
resumed matched "$one" "$european" "moment_matching = true, $never"
resumed sobol "$one" "$european, sim.asian { strike = 100 }" "sequence = 'sobol', scrambles = 16, antithetic = true, $never"
resumed greeks "$one, { spot = 95, vol = 0.3 }" "sim.spread { strike = 5 }, $put, sim.digital { strike = 100 }" "$never" \
  'greeks = { delta = true, vega = true, rho = true, theta = false, cross_gamma = true }'
resumed theta "$one" "sim.european { strike = 100 }, sim.american { strike = 100, type = 'put', dates = { 0.5, 1 }, fit_paths = 4096 }" \
  "$never" 'greeks = { theta = true, charm = true }'
resumed ladder "$one" "$european, sim.barrier { strike = 100, level = 80, rebate = 5 }" "$never" \
  'ladder = { spot = { -0.1, 0, 0.1 }, vol = { 0, 0.05 } }, greeks = { delta = true }'
resumed buckets '{ spot = 100, vol = sim.curve { {0, 0.2}, {0.4, 0.3}, {1, 0.25} } }' "$european" "$never" \
  'greeks = { vega_bucket = true, rho_bucket = true }'
resumed exposure "$one" "$european, $put" "$never" \
  'exposure = { dates = { 0.25, 0.5 }, hazard = 0.02, own_hazard = 0.01, paths = 2^12, fit_paths = 2^12 }'
resumed upper "$one, { spot = 95, vol = 0.3 }" \
  'sim.american { strike = 100, on = "best_of", fit_paths = 4096, upper_paths = 32, inner_paths = 32 }' "$never"
resumed bias "{ spot = 100, $heston }" "$european, sim.european { strike = 300 }" "$never" 'greeks = { delta = true, vega = true }'
resumed levels "{ spot = 100, $heston }" "$european" 'multilevel = true, standard_error = 0.02'
resumed randomised "{ spot = 100, ${heston/sigma = 0.5/sigma = 0.4} }" "$european" 'multilevel = true, randomised = true, standard_error = 0.05'
resumed paths "$one" "$european" "$never" 'paths = { count = 10 }'

# With more paths: the bits of a run that had them from the beginning; with an accuracy its prices and errors, in
# steps of other lengths.
printf 'local se = sim.param("se", 0.0) return sim.option { assets = { %s }, rate = 0.05, maturity = 1, steps = 4, payoffs = { %s },\n%s\n' "$one" "$european, $put" \
  'sampling = { paths = sim.param("paths", 2^21 + 1234), standard_error = se > 0 and se or nil }, output = { tables = "ends" } }' >more.lua
for se in 0 1e-9; do
  expect 0 "" "$SIM" run more.lua -o whole --force --device cpu --set "se=$se"
  last=$(said)
  expect 0 "" "$SIM" run more.lua -o more --force --device cpu --set paths=700001 --set "se=$se"
  expect 0 "" "$SIM" run more.lua -o more --device cpu --resume --set "se=$se"
  [ "$(said)" = "$last" ] || fail "other last lines with more paths, standard_error = $se"
  [ "$se" != 0 ] || same whole more "more paths"
done
