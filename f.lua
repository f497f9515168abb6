return sim.option {
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = "rate.txt",
  maturity = 1,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { paths = 1024 },
}
