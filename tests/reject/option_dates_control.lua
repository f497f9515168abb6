-- expect: 65 option_dates_control.lua:3: sampling.control: expected "black_scholes" or "underlying": in a run with dates
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, sampling = { control = "geometric" },
  payoffs = { sim.asian { strike = 100, dates = { 0.5, 1 } }, sim.european { strike = 100 } },
}
