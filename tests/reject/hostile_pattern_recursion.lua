-- expect: 65 pattern too complex
local s = ("x"):rep(1e5):find(("x?"):rep(1e4) .. ("(x)"):rep(300))
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
