#!/usr/bin/env bash
# expect: 64 clumps are on one rank only
cat >case.lua <<'END'
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
END
"$SIM" run case.lua --ranks 2 --device cpu
