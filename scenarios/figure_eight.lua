-- Three equal bodies chase each other along one figure-eight.
-- A. Chenciner and R. Montgomery, Annals of Mathematics 152 (2000) 881; start values by C. Simo, in that paper.

local periods = sim.param("periods", 1, "times round")
local period  = 6.32591398

local x,  y  =  0.97000436, -0.24308753
local vx, vy = -0.93240737, -0.86473146

return sim.nbody {
  title  = "Figure-eight of three bodies",
  bodies = {
    { mass = 1, position = { x,  y, 0}, velocity = {-vx/2, -vy/2, 0} },
    { mass = 1, position = {-x, -y, 0}, velocity = {-vx/2, -vy/2, 0} },
    { mass = 1, position = { 0,  0, 0}, velocity = { vx,    vy,   0} },
  },
  integrate = { scheme = "hermite4", dt = period / 4096, t_end = periods * period },
  output    = { snapshots = "every 0.1", tables = "every 16 steps" },
}
