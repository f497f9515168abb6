-- Which part of the volatility's curve prices depend on: vega by each node, of a call, of an Asian call and of a put that
-- may be exercised on any of 12 dates; and rho by each node of the rate's curve. The sum over the nodes is vega, or rho.
local paths = sim.param("paths", 2^18, "paths")
return sim.option {
  title    = "Vega and rho by node of curves",
  assets   = { { spot = 100, vol = sim.curve { {0, 0.2}, {0.25, 0.25}, {0.5, 0.22}, {0.75, 0.2}, {1, 0.19}, {1.5, 0.18} } } },
  rate     = sim.curve { {0, 0.02}, {0.5, 0.03}, {1, 0.035} },
  maturity = 1,
  steps    = 12,
  payoffs  = {
    sim.european { strike = 105, name = "call" },
    sim.asian    { strike = 100, name = "asian" },
    sim.american { strike = 105, type = "put", name = "early_put" },
  },
  greeks   = { vega = true, rho = true, vega_bucket = true, rho_bucket = true },
  sampling = { paths = paths, antithetic = true },
}
