-- Arrays of 8 to 10 MiB, which are allocated on large pages: what they take beyond their bytes shows in the check of memory.
-- The transform of 1024^2 cells has 1024 x 513 complex numbers, 16 KiB more than four large pages.
local u = { name = "u", D = 1e-5, initial = function(x) return 0.1 * math.sin(2 * math.pi * x) end }
return sim.diffusion {
  precision = "double",
  grid = { n = {1024, 1024}, size = {1, 1}, boundary = "periodic" },
  fields = { u, { name = "v", D = 1e-5, initial = 0 } },
  rates = function(u, v) return u - u * v * v, v - u * v end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 0.04 },
}
