#!/usr/bin/env bash
# Runs of diffusion that continue to a later end, and messages about values that are no numbers and about slow sizes.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

cat >s.lua <<'LUA'
local t_end, dt = sim.param("t_end", 1.5), sim.param("dt", "0.1")
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = function(x) return 1 + 0.1 * math.sin(2 * math.pi * x) end } },
  rates     = function(u, t) return math.sin(3 * t) - u^3 end,
  integrate = { scheme = "etdrk4", dt = dt == "auto" and "auto" or tonumber(dt), t_end = t_end },
  output    = { tables = "every 0.1", checkpoint = "every 3 steps" },
}
LUA
expect 0 "" "$SIM" run s.lua -o whole
expect 0 "t = 0.7" "$SIM" run s.lua -o two --set t_end=0.7
expect 0 "t = 1.5" "$SIM" run s.lua -o two --resume
same whole two "an end that was put off"
expect 0 "t = 0.7" "$SIM" run s.lua -o auto --set t_end=0.7 --set dt=auto
expect 0 "t = 1.5" "$SIM" run s.lua -o auto --resume --set dt=auto
expect 78 "'integrate.dt' differs" "$SIM" run s.lua -o two --resume --set dt=0.2

# Rates with derivatives: the first step after a restart has them too.
cat >slopes.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = function(x, y) return 0.3 + 0.1 * math.cos(2 * math.pi * (x + y)) end } },
  rates     = function(u, u_x, u_y) return -u * (u_x + u_y) end,
  integrate = { scheme = sim.param("scheme", "lie"), dt = 0.05, t_end = 0.4 },
  output    = { checkpoint = "every 3 steps" },
}
LUA
for scheme in lie etd1 etdrk4; do
  expect 0 "" "$SIM" run slopes.lua -o slopes --set scheme=$scheme --force
  cp -r slopes first
  expect 0 "" "$SIM" run slopes.lua -o slopes --set scheme=$scheme --resume=slopes/ckpt/ck_000000000003.h5
  same first slopes "derivatives after a restart, $scheme"
  rm -r first
done

# For a finite state: one warning, and the run continues. A probe of the fields gives no warning.
cat >log.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = function(x) return x - 0.5 end } },
  observe   = { entropy = function(u) return u * math.log(u) end, square = function(u) return u^2 end },
  integrate = { t_end = 1 },
  output    = { tables = "every 0.1" },
}
LUA
expect 0 "observe.entropy is not a number at step 0, t = 0, though the state is finite" "$SIM" run log.lua
[ "$(grep -c warning output)" = 1 ] || fail "not one warning"

sed 's/n = {16}/n = {34}/' s.lua >prime.lua
expect 0 "grid.n: 34 has a prime factor above 13" "$SIM" check prime.lua
[ "$(grep -c warning output)" = 1 ] || fail "not one warning"
expect 0 "grid.n: 34 has a prime factor above 13" "$SIM" run prime.lua
[ "$(grep -c warning output)" = 1 ] || fail "not one warning"

# The message names the first step whose state is not finite, with any outputs.
cat >breaks.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "v", initial = 1 }, { name = "u", D = 0.01, initial = 2 } },
  rates     = function(v, u) return -v, u^2 end,
  integrate = { scheme = "etdrk4", dt = 0.1, t_end = 1000 },
}
LUA
expect 80 "the field u is not finite at step 8, t = 0.8 (it was at step 7): dt = 0.1 is too long for etdrk4, the grid is too coarse, or the solution itself grows without bound" "$SIM" run breaks.lua

# A shock that the grid does not resolve is reported once; steps that differ from the scenario's are reported.
cat >burgers.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {256}, size = {1} },
  fields    = { { name = "u", D = sim.param("D", 1e-5), initial = function(x) return math.sin(2 * math.pi * x) end } },
  rates     = function(u, u_x) return -u * u_x end,
  integrate = { scheme = "etdrk4", dt = sim.param("dt", 2e-3), dealias = true, t_end = 0.3 },
  output    = { tables = "every 0.05" },
}
LUA
expect 0 "the grid does not resolve u: at t = " "$SIM" run burgers.lua -o burgers.out
[ "$(grep -c warning output)" = 1 ] || fail "not one warning"
expect 0 "" "$SIM" run burgers.lua -o fine.out --set D=5e-3
[ "$(grep -c warning output)" = 0 ] || fail "a grid that resolves is warned of"
# A wave of two cells has all of the fluctuations: 100 %, not 1e+02 %.
cat >shortest.lua <<'LUA'
return sim.diffusion { grid = { n = {64}, size = {64} }, fields = { { name = "u", D = 0, initial = function(x) return 1 + math.cos(math.pi*(x - 0.5)) end } },
  rates = function(u) return -u^2 end, integrate = { scheme = "etdrk4", dt = 1e-6, t_end = 2e-6 } }
LUA
expect 0 "along x holds 100 % of the power" "$SIM" run shortest.lua -o shortest.out
expect 0 "integrate.dt: 0.2 does not divide the run, to t_end = 0.3: 2 steps of 0.15" "$SIM" check burgers.lua --set dt=0.2
expect 0 "integrate.dt: 0.5 is longer than the run, which ends at t_end = 0.3: one step of 0.3" "$SIM" check burgers.lua --set dt=0.5
expect 0 "" "$SIM" run s.lua -o put-off --set t_end=0.7
expect 0 "integrate.dt: 0.1 does not divide the run from t = 0.7 on, to t_end = 1.55: 9 steps of 0.0944444444" "$SIM" run s.lua -o put-off --resume --set t_end=1.55
# A share is printed as a readable number.
cat >rough.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {256}, size = {1} },
  fields    = { { name = "u", D = 1e-9, initial = function(x) return math.sin(2 * math.pi * 120 * x) end } },
  rates     = function(u) return 0 * u end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 0.1 },
}
LUA
expect 0 "along x holds 100 % of the power" "$SIM" run rough.lua
