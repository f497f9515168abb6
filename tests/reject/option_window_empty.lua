-- expect: 65 option_window_empty.lua:4: payoffs[1]: from, to: expected two times, the first earlier, at most the maturity 1
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 80, from = 0.5, to = 0.5 + 1e-12, monitoring = "continuous" } },
}
