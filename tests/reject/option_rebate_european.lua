-- expect: 65 payoffs[1].rebate: unknown key, it belongs into payoffs[...] (sim.barrier, sim.double_barrier)
return sim.option {
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = 0.05, maturity = 1,
  payoffs  = { sim.european { strike = 100, rebate = 3 } },
  sampling = { paths = 1024 },
}
