-- Matter gathers in filaments and haloes while the universe expands: a cube of comoving side `size` from redshift 49
-- until today. The table `spectrum` has the measured power beside that of linear theory. Each of the 32^3 bodies has
-- 7e11 solar masses/h, a large galaxy with its halo; --set n=128 shows more, and takes a GPU.

local n    = sim.param("n", 32, "bodies along a side")
local size = sim.param("size", 64, "side of the cube in Mpc/h")

return sim.nbody {
  title     = "Structure in an expanding universe",
  precision = "single",
  box       = { size = size, boundary = "periodic" },
  expansion = { omega_m = 0.31, omega_lambda = 0.69, h = 0.68, a_start = 1/50 },
  bodies    = { sim.zeldovich { n = n, index = 0.965, omega_b = 0.049, sigma8 = 0.81 } },
  gravity   = { softening = size / n / 25 },
  spectrum  = n,
  integrate = { dt = 0.02, t_end = 1 },
  output    = { snapshots = "every 0.1", tables = "every 0.02", checkpoint = "every 5 min" },
}
