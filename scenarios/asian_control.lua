-- An Asian call on 252 daily prices to a standard error of 2e-4, of a spot of 100: its geometric twin, whose price is known,
-- divides the variance by 1300, and so the time.
return sim.option {
  title     = "Asian option with a control variate",
  precision = "mixed",
  assets    = { { spot = 100, vol = 0.2 } },
  rate      = 0.05,
  maturity  = 1,
  steps     = 252,
  payoffs   = { sim.asian { strike = 100 } },
  sampling  = { control = "geometric", standard_error = 2e-4, paths = 2^24 },
  output    = { tables = "every 1 steps" },
}
