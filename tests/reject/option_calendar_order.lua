-- expect: 65 option_calendar_order.lua:3: calendar.dates: to: expected a date after from
local c = sim.calendar { today = "2026-03-02" }
local t = c.dates { from = "2027-03-02", to = "2027-03-02", every = "1M" }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
