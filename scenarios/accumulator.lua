-- Contracts of a desk in dollars on a share that is quoted in euros. Asset 2 is the price of a euro, whose dividend is
-- the euro's interest rate. An accumulator buys a share at a discount each week, twice as many below the strike, until
-- the share reaches its knock-out. Each purchase is converted at its date. Beside it calls by each kind of exchange,
-- and a put with early exercise at a fixed rate. The ladder is that of the accumulator.
local level = sim.param("level", 105, "knock-out of the accumulator, in euros")
return sim.option {
  title    = "Accumulator and quantos",
  assets   = {
    { spot = 100, vol = 0.22, dividend = 0.015, currency = 2 },
    { spot = 1.1, vol = 0.09, dividend = 0.02 },
  },
  correlation = { { 1, -0.3 }, { -0.3, 1 } },
  rate     = 0.04,
  maturity = 1,
  steps    = 52,
  payoffs  = {
    sim.accumulator { name = "accumulator", strike = 92, level = level, gearing = 2, guaranteed = 4,
                      exchange = "payment" },
    sim.accumulator { name = "at_maturity", strike = 92, level = level, gearing = 2, settle = "maturity",
                      exchange = "payment" },
    sim.european { name = "quanto", strike = 100, exchange = "quanto", exchange_rate = 1.1 },
    sim.european { name = "composite", strike = 110, exchange = "composite" },
    sim.european { name = "converted", strike = 100, exchange = "payment" },
    sim.american { name = "quanto_put", type = "put", strike = 100, every = 13, fit_paths = 2^13, exchange = "quanto",
                   exchange_rate = 1.1 },
  },
  greeks   = { delta = true },
  ladder   = { spot = { -0.3, -0.2, -0.1, -0.05, 0, 0.02, 0.04 }, vol = { -0.05, 0, 0.05 }, asset = 1 },
  sampling = { paths = 2^16, antithetic = true },
}
