-- expect: 65 option_dates_empty.lua:4: payoffs[1]: dates: expected one or more, got an empty list (without the key they are the steps)
return sim.option { assets = { { spot = 100, vol = 0.2 } }, rate = 0.03, maturity = 0.1, steps = 4,
  payoffs = {
    sim.asian { strike = 100, dates = {}, past = { 98, 104 } },
  }, sampling = { paths = 2^10 } }
