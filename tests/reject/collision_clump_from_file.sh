#!/usr/bin/env bash
# expect: 65 is a sphere of a clump
cat >rods.lua <<'END'
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
  output    = { snapshots = "every 0.1" },
}
END
cat >loose.lua <<'END'
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.from_file { path = "rods.out/snap/snap_00000000.h5" } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
END
"$SIM" run rods.lua --device cpu >/dev/null && exec "$SIM" run loose.lua --device cpu
