#!/usr/bin/env bash
# expect: 80 heat.nusselt_x_low exceeds the range of double precision at t = 0
cat >s.lua <<'LUA'
return sim.fluid {
  grid      = { n = {16, 12}, size = {1.6, 1.2}, boundary = "wall" }, viscosity = 0.05, speed = 1, turbulence = { smagorinsky = 0.1 },
  heat      = { diffusivity = 5e-324, x_low = 1.5, x_high = 0.5, reference = 0.25 },
  integrate = { t_end = 0.2 },
}
LUA
exec "$SIM" run s.lua --device cpu
