-- A flow between walls along which it slips, by velocities: walls = 1: along z alone; 3: along all axes. Fields have
-- series of their own, which a GPU computes by matrices.
local n, steps, walls = sim.param("n", 256), sim.param("steps", 40), sim.param("walls", 1)
local function side(a) return { [a .. "_low"] = { value = 0 }, [a .. "_high"] = { value = 0 } } end

return sim.diffusion {
  precision  = "single",
  grid       = { n = {n, n, n}, size = {math.pi, math.pi, math.pi}, boundary = walls == 3 and "no_flux" or "periodic", z = "no_flux" },
  fields     = {
    { name = "u", D = 1e-3, sides = walls == 3 and side("x") or nil,
      initial = function(x, y, z) return math.sin(2 * x) * math.cos(2 * y) * math.cos(z) end },
    { name = "v", D = 1e-3, sides = walls == 3 and side("y") or nil,
      initial = function(x, y, z) return -math.cos(2 * x) * math.sin(2 * y) * math.cos(z) end },
    { name = "w", D = 1e-3, sides = side("z") },
  },
  solenoidal = "u, v, w",
  rates      = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)
    return -u * u_x - v * u_y - w * u_z, -u * v_x - v * v_y - w * v_z, -u * w_x - v * w_y - w * w_z
  end,
  integrate  = { scheme = "etdrk2", dt = 1e-3, t_end = steps * 1e-3, dealias = true },
  output     = { snapshots = "never", checkpoint = "never", tables = "ends" },
}
