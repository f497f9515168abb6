-- A European call and put with their Greeks. Black and Scholes: 10.4506 and 5.5735; delta 0.6368, vega 37.52.
local strike = sim.param("strike", 100, "strike of both")
return sim.option {
  title    = "European options",
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = 0.05,
  maturity = 1,
  payoffs  = {
    sim.european { strike = strike },
    sim.european { strike = strike, type = "put" },
  },
  greeks   = { delta = true, gamma = true, vega = true, rho = true, theta = true },
  sampling = { paths = 2^20, antithetic = true },
  output   = { tables = "every 1 steps" },
}
