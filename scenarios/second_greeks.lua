-- Second derivatives of calls over the strikes: vanna (of delta by the volatility), volga (of vega by it) and charm (of delta
-- with time), beside Black and Scholes. With several assets `cross_gamma` gives the derivative by each two spots.
local payoffs = {}
for strike = 75, 130, 5 do payoffs[#payoffs + 1] = sim.european { strike = strike } end
return sim.option {
  title    = "Second derivatives of calls",
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = 0.03,
  maturity = 1,
  payoffs  = payoffs,
  greeks   = { gamma = true, vanna = true, volga = true, charm = true },
  sampling = { paths = 2^18, antithetic = true },
}
