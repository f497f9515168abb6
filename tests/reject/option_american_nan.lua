-- expect: 80 payoffs[1].exercise is not finite at prices that the paths reach
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { exercise = function(path) return math.log(path.last[1] - 100) end } },
}
