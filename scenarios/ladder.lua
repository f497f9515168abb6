-- Scenario ladders of an up-and-out call and of a Bermudan put: what each would be worth after a move of the spot and of the
-- volatility, today and a month later, in one run. Changes are differences on the same paths, so that their errors are
-- much smaller than those of the prices. The first paths are written too.
local dates = { 0.25, 0.5, 0.75, 1 }
return sim.option {
  title    = "Ladders of a barrier option and of a Bermudan put",
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = 0.03,
  maturity = 1,
  payoffs  = {
    sim.barrier  { strike = 100, level = 130, direction = "up", monitoring = "continuous", name = "up_and_out" },
    sim.american { strike = 100, type = "put", dates = dates, fit_paths = 2^14, name = "bermudan" },
  },
  steps    = 4,
  sampling = { paths = 2^17, antithetic = true },
  ladder   = {
    spot = { -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2 },      -- of the spot: 20 % lower, ...
    vol  = { -0.05, 0, 0.05 },                            -- of the volatility: 5 points lower, ...
    time = { 0, 1/12 },                                   -- today, and a month later
  },
  paths    = { count = 100 },
}
