-- Droplets of a mist that become one where they touch, as in a cloud or a smoke: masses, momenta and volumes add (`merge`).
-- Table `events` has their number, which at early times falls as M. v. Smoluchowski found (Z. Phys. Chem. 92 (1917) 129):
-- N = N0/(1 + x), x = K N0 t/(2 V), K = 16 r^2 sqrt(pi T/m), the volume that two droplets sweep over time. At x = 1, the end
-- of this run, larger droplets sweep more than that: 4 % fewer are left. mean_mass grows as 1 + 2 x, and a little faster at the end.
local n    = sim.param("n", 1500, "droplets")
local fill = sim.param("fill", 0.01, "share of the volume that they fill")
local x    = sim.param("x", 1.0, "time, in those in which half of the droplets merge")

local r, m, T = 0.5, 1.0, 1.0
local volume  = n * 4 / 3 * math.pi * r^3 / fill
local side    = volume^(1 / 3)
local K       = 16 * r^2 * math.sqrt(math.pi * T / m)
local t_end   = 2 * x * volume / (K * n)

return sim.collision {
  title     = "Droplets that merge",
  box       = { size = {side, side, side}, boundary = "periodic" },
  grains    = { sim.random_spheres { n = n, radius = r, density = m / (4 / 3 * math.pi * r^3), temperature = T } },
  merge     = { when = "touch" },
  contact   = { contact_time = 1 },
  integrate = { dt = 0.02, t_end = t_end },
  output    = { snapshots = ("every %g"):format(t_end / 4), tables = ("every %g"):format(t_end / 40) },
}
