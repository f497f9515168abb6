-- A put that may be exercised on any of 50 dates, by Longstaff and Schwartz, beside the European one. Their table 1 has
-- 4.478 and 3.844: the right to exercise early is worth the difference.
local spot = sim.param("spot", 36, "price of the share now")
return sim.option {
  title     = "American put",
  assets    = { { spot = spot, vol = 0.2 } },
  rate      = 0.06,
  maturity  = 1,
  steps     = 50,
  payoffs   = {
    sim.american { strike = 40, type = "put" },
    sim.american { strike = 40, type = "put", every = 10 },   -- Bermudan: on five dates
    sim.european { strike = 40, type = "put" },
  },
  greeks    = { delta = true },
  sampling  = { paths = 2^19, antithetic = true },
  output    = { tables = "every 1 steps" },
}
