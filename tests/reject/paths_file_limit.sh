# expect: 74 sim: at step 100: the last tables could not be written: s.out/tables.h5: File too large
printf '%s' 'return sim.diffusion { grid = { n = {16, 16}, size = {1, 1} },
  fields = { { name = "u", D = 0.01 } }, integrate = { t_end = 1 }, output = { snapshots = "never", checkpoint = "never" } }' >s.lua
ulimit -f 1
exec "$SIM" run s.lua -q
