#!/usr/bin/env bash
# Diffusion on a GPU: taken automatically for scenarios that the CPU computes too, the same bits twice, after a kill,
# and for the scheme exact, which jumps.
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

killed d.lua --set steps=20000

# Adaptive steps, walls with values, cross diffusion: the same.
cat >auto.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {48, 40}, size = {1, 2}, x = "fixed" },
  fields    = {
    { name = "u", D = 0.02, walls = {1, 0}, cross = {0, 0.01} },
    { name = "v", D = 0.01, initial = 0.1, noise = 0.01 },
  },
  rates     = function(u, v, y, t) return u*v - u^3 + y*math.sin(20*t), 0.1*u - v end,
  integrate = { scheme = "etdrk4", dt = "auto", rtol = 1e-5, dt_max = 1/256, t_end = sim.param("t_end", 1) },
  output    = { snapshots = "ends", tables = "every 1", checkpoint = "every 10 steps" },
}
LUA
rm -rf one.out two.out whole.out cut.out
expect 0 "(GPU 0)" "$SIM" run auto.lua -o one.out
expect 0 "(GPU 0)" "$SIM" run auto.lua -o two.out --device cuda
same one.out two.out "steps that adapt, twice"
killed auto.lua --set t_end=40

# A velocity without divergence, fluxes of a field that it carries, and steps by its Courant number: the same.
cat >flow.lua <<'LUA'
return sim.diffusion {
  grid       = { n = {48, 40}, size = {2 * math.pi, 2 * math.pi} },
  fields     = {
    { name = "u", D = 0.02, noise = 0.3 },
    { name = "v", D = 0.02, initial = function(x) return math.sin(x) end },
    { name = "c", D = 0.01, initial = function(x, y) return math.cos(x) * math.sin(y) end },
  },
  solenoidal = "u, v",
  derived    = { s = function(kx, ky, u, v) return 0, kx * v - ky * u end },
  flux       = function(u, v, c) return u * u, u * v, v * u, v * v, u * c, v * c end,
  rates      = function(c, s) return 0.1 * c, 0.1 * s, 0 end,
  integrate  = { scheme = "etdrk4", dt = "auto", courant = 0.2, dt_max = 1/64, t_end = sim.param("t_end", 1) },
  output     = { snapshots = "ends", tables = "every 1", checkpoint = "every 10 steps" },
}
LUA
rm -rf one.out two.out whole.out cut.out
expect 0 "(GPU 0)" "$SIM" run flow.lua -o one.out
expect 0 "(GPU 0)" "$SIM" run flow.lua -o two.out --device cuda
same one.out two.out "a flow, twice"
killed flow.lua --set t_end=160

# Implicit steps, by regions of different stiffness: the same, and what one GPU refuses.
cat >implicit.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {48, 40}, size = {1, 1}, boundary = "no_flux" },
  fields    = {
    { name = "p", sides = { x_low = { value = 1 } } },
    { name = "q", initial = function(x, y) return math.cos(math.pi * x) end },
  },
  flux      = function(p_x, p_y, q_x, q_y, x, y)
    local D = 0.001 + math.exp(-((y - 0.3 - x / 5) / 0.05)^2)
    return -D * p_x, -D * p_y, -0.2 * q_x, -D * q_y
  end,
  rates     = function(p, q, t) return q - p * math.sin(t), -p * q end,
  integrate = { scheme = "rodas3", method = sim.param("method", "auto"), dt_max = 1/128, t_end = sim.param("t_end", 1) },
  output    = { snapshots = "ends", tables = "every 1", checkpoint = "every 10 steps" },
}
LUA
rm -rf one.out two.out whole.out cut.out
expect 0 "implicit equations" "$SIM" run implicit.lua -o one.out
expect 0 "implicit equations" "$SIM" run implicit.lua -o two.out --device cuda
same one.out two.out "implicit steps, twice"
killed implicit.lua --set t_end=4
expect 65 'integrate.method = "slabs" on a GPU has no scheme = "rodas3"' "$SIM" run implicit.lua -o refused --device cuda \
  --set method=slabs
