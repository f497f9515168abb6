-- expect: 65 stack overflow
local function f() return 1 + f() end f()
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
