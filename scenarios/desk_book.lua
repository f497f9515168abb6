-- A desk's book on one share under Heston's model, on the same paths: calls of three maturities, an average of month-end
-- fixings that is paid later, a barrier that is watched each quarter, a put with four dates of exercise. The share pays
-- two cash dividends. Each contract has its own dates; between them lie steps of at most 1/100 year.
local paths = sim.param("paths", 2^18, "paths")

local month_ends = {}
for i, day in ipairs { 30, 61, 91, 122, 152, 182, 213, 243, 274, 304, 335, 365 } do month_ends[i] = day / 365 end
local quarters = { month_ends[3], month_ends[6], month_ends[9], month_ends[12] }

return sim.option {
  title     = "A desk's book",
  precision = "mixed",
  assets    = { {
    spot = 100,
    heston = { v = 0.04, kappa = 1.5, theta = 0.06, sigma = 0.6, rho = -0.7 },
    dividends = { { 0.4, 1.5 }, { 0.9, 1.5 } },                             -- {time, amount}
  } },
  rate      = sim.curve { {0, 0.025}, {0.5, 0.03}, {1, 0.035} },
  maturity  = 1.02,
  steps     = 100,
  payoffs   = {
    sim.european { name = "call_3m", strike = 100, maturity = quarters[1] },
    sim.european { name = "call_6m", strike = 100, maturity = quarters[2] },
    sim.european { name = "call_1y", strike = 100, maturity = quarters[4] },
    sim.asian { name = "month_ends", strike = 100, dates = month_ends },    -- paid a week later
    sim.barrier { name = "knock_out", strike = 100, level = 85, dates = quarters, maturity = quarters[4] },
    sim.american { name = "bermudan_put", strike = 100, type = "put", dates = quarters, maturity = quarters[4] },
    sim.forward_start { name = "from_6m", start_time = quarters[2], maturity = quarters[4] },
  },
  greeks    = { delta = true, vega = true },
  sampling  = { paths = paths, antithetic = true },
  output    = { tables = "every 1 steps" },
}
