-- A call on the highest of five prices that may be exercised on any of nine dates: the case of Broadie and Glasserman
-- (2004). When to exercise is a rule by regression, and its price is low; the dual of Andersen and Broadie (2004) gives a
-- bound above every rule, so that the best price lies between the two.
local spot = sim.param("spot", 100, "price of each share now")
local assets = {}
for i = 1, 5 do assets[i] = { spot = spot, vol = 0.2, dividend = 0.1 } end
return sim.option {
  title    = "Bermudan call on the best of five",
  assets   = assets,
  rate     = 0.05,
  maturity = 3,
  steps    = 9,
  payoffs  = {
    sim.american { strike = 100, on = "best_of", upper_paths = 256, name = "bermudan" },
    sim.american { strike = 100, on = "best_of", basis = "payoff", upper_paths = 256, name = "simple_rule" },   -- sees the highest price alone
    sim.best_of { strike = 100, name = "european" },
  },
  sampling = { paths = 2^17, antithetic = true },
  output   = { tables = "every 1 steps" },
}
