#!/usr/bin/env bash
# Taylor and Green's vortices at a Reynolds number of 1600 on 256^3 cells: at t = 8.97, where energy dissipates fastest,
# its rate 2 nu (mean of |curl|^2/2) is within 1 % of that of the International Workshops on High-Order CFD Methods,
# 0.0128575 (their spectral run on 512^3 points, spectral_Re1600_512.gdiag), and 1/4 earlier and later it is lower.
# DEVICE=cpu computes at 8.97 alone, and an eighth of the box: the planes between the vortices are walls along which the
# fluid slips. CELLS (of the whole box), DEALIAS, BOX=0 or 1, TIMES: another run.
. "${BASH_SOURCE[0]%/*}/lib.sh"
device=${DEVICE:-cuda}
times=${TIMES:-8.97 8.72 9.22} box=${BOX:-0}
if [ "$device" = cpu ]; then
  times=${TIMES:-8.97} box=${BOX:-1}
else
  need_gpu
fi
cat >vortices.lua <<LUA
local box, n = $box == 1, ${CELLS:-256} // ($box + 1)
local size = (box and 1 or 2) * math.pi
local function held(axis) return box and { [axis .. "_low"] = { value = 0 }, [axis .. "_high"] = { value = 0 } } or nil end
return sim.diffusion {
  precision  = "single",
  grid       = { n = {n, n, n}, size = {size, size, size}, boundary = box and "no_flux" or "periodic" },
  fields     = {
    { name = "u", D = 1/1600, sides = held("x"),
      initial = function(x, y, z) return math.sin(x) * math.cos(y) * math.cos(z) end },
    { name = "v", D = 1/1600, sides = held("y"),
      initial = function(x, y, z) return -math.cos(x) * math.sin(y) * math.cos(z) end },
    { name = "w", D = 1/1600, sides = held("z") },
  },
  solenoidal = "u, v, w",
  derived    = not box and {
    a = function(ky, kz, v, w) return 0, ky * w - kz * v end,
    b = function(kz, kx, u, w) return 0, kz * u - kx * w end,
    c = function(kx, ky, u, v) return 0, kx * v - ky * u end,
  } or nil,
  rates      = box and function(u, v, w, u_y, u_z, v_x, v_z, w_x, w_y)
    local a, b, c = w_y - v_z, u_z - w_x, v_x - u_y
    return v * c - w * b, w * a - u * c, u * b - v * a
  end or function(u, v, w, a, b, c) return v * c - w * b, w * a - u * c, u * b - v * a end,
  observe    = { dissipation = { box and function(u_y, u_z, v_x, v_z, w_x, w_y)
    return ((w_y - v_z)^2 + (u_z - w_x)^2 + (v_x - u_y)^2) / 1600
  end or function(a, b, c) return (a^2 + b^2 + c^2) / 1600 end, reduce = "mean" } },
  integrate  = { scheme = "etdrk4", dt = 0.01, t_end = sim.param("time", 8.97), dealias = ${DEALIAS:-true} },
  output     = { snapshots = "never", tables = "ends", checkpoint = "never" },
}
LUA
greatest=
for time in $times; do
  expect 0 "" "$SIM" run vortices.lua --device "$device" --set time="$time" --json -q
  rate=$(sed -n 's/.*"dissipation": *\([0-9.e+-]*\).*/\1/p' output)
  awk -v rate="$rate" -v t="$time" 'BEGIN {
    printf "dissipation %.7f at t = %s (%+.2f %% of 0.0128575)\n", rate, t, 100 * (rate / 0.0128575 - 1) }'
  if [ -z "$greatest" ]; then
    greatest=$rate
    awk -v rate="$rate" 'BEGIN { exit !(rate > 0.99 * 0.0128575 && rate < 1.01 * 0.0128575) }' ||
      fail "dissipation at t = $time: $rate, not within 1 % of 0.0128575"
  else
    awk -v rate="$rate" -v most="$greatest" 'BEGIN { exit !(rate > 0 && rate < most) }' ||
      fail "dissipation at t = $time: $rate, not below $greatest"
  fi
done
