-- What the other party to a netted book may owe: two calls bought, of two maturities, an Asian call and a Bermudan put sold. At each date
-- the expected exposure (EPE, and ENE of the other side), the level that 95 % of all paths stay below (PFE), and what the
-- chance of a default takes off the book's value (CVA).
local share = { spot = 100, vol = 0.25, dividend = 0.01 }
return sim.option {
  title    = "Exposure of a netted book",
  assets   = { share, { spot = 100, heston = { v = 0.05, kappa = 1.5, theta = 0.06, sigma = 0.5, rho = -0.7 } } },
  correlation = { { 1, 0.6 }, { 0.6, 1 } },
  rate     = 0.03,
  maturity = 2,
  steps    = 48,
  payoffs  = {
    sim.european { strike = 100, maturity = 1, name = "short_call" },
    sim.european { strike = 105, asset = 2, name = "long_call" },
    sim.asian    { strike = 100, dates = { 0.5, 1, 1.5, 2 }, name = "asian" },
    sim.american { strike = 95, type = "put", asset = 2, dates = { 0.5, 1, 1.5, 2 }, name = "bermudan" },
  },
  sampling = { paths = 2^16 },
  exposure = {
    every      = 4,
    quantities = { 1, 1, -1, -1 },
    hazard     = sim.curve { {0, 0.01}, {2, 0.03} }, recovery = 0.4,
    own_hazard = 0.01,
    paths = 2^16, fit_paths = 2^15,
  },
}
