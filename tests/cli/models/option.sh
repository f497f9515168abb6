#!/usr/bin/env bash
# What a user sees of a run of options: its last lines, and what is said where an accuracy is not reached.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

# price PAYOFFS SAMPLING REST: a scenario in s.lua, run in s.out.
price() {
  local assets='assets = { { spot = 100, vol = 0.2 } },'
  [[ $1 != assets* ]] || assets=
  printf 'return sim.option { %s rate = 0.05, maturity = 1,\n' "$assets" >s.lua
  printf '  %s,\n  sampling = { %s },\n  %s }\n' "$1" "$2" "${3:-}" >>s.lua
  expect 0 "${4:-}" "$SIM" s.lua --force --device cpu
}
has() { grep -qF -- "$1" output || fail "no '$1' in the output"; }
has_not() { ! grep -qF -- "$1" output || fail "'$1' in the output"; }
# A text of tables.h5, as text in the file: attributes are stored as they are.
in_tables() { grep -aqF -- "$1" s.out/tables.h5 || fail "no '$1' in tables.h5"; }

call='payoffs = { sim.european { strike = 100 } }'

# An accuracy that is reached, one that paths end before, one that time ends.
price "$call" 'standard_error = 0.05'
has_not warning
[ -z "$(key remark s.out)" ] || fail "a remark on what was reached"
price "$call" 'standard_error = 1e-4, paths = 2^16'
has 'warning: standard_error = 0.0001 is not reached: it is 0.05'
has 'after 65536 paths, where sampling.paths ended the run'
[[ $(key remark s.out) == "standard_error = 0.0001 is not reached"* ]] || fail "no remark in status.json"
in_tables 'standard_error = 0.0001 is not reached'
price "$call" 'standard_error = 1e-9, time = 0.01'
has 'where sampling.time ended the run'

# No path pays: never reached, and the error is unknown. With nothing random a 0 is certain.
price 'payoffs = { sim.european { strike = 1000 } }' 'standard_error = 1e-3, paths = 2^21'
has 'no path of 1048576 has been paid by payoffs[1]: the run continues to sampling.paths = 2097152'
has 'warning: no path of 2097152 paid by payoffs[1]'
has 'standard_error = 0.001 is not reached after 2097152 paths'
has 'price 0 +- ?'
sed -i 's/vol = 0.2/vol = 0/' s.lua
expect 0 'price 0 +- 0' "$SIM" s.lua --force --device cpu
has_not warning

# Below what rounding leaves: a call that is its own control is exact but for that.
price "$call" 'standard_error = 1e-9, control = "black_scholes", paths = 2^18' 'precision = "mixed"'
has 'standard_error = 1e-09 is below what rounding leaves: 9.97e-06; precision = "double" leaves less'
price "$call" 'control = "black_scholes", paths = 2^16'
has 'price 10.450584 +- 9.5e-12'

# Rounded paths.
price "$call" 'paths = 3, antithetic = true'
has 'sampling.paths: 3 are rounded up to 4: antithetic paths come in pairs'
price "$call" 'paths = 1000, sequence = "sobol"'
has 'sampling.paths: 1000 are rounded up to 1024: each scramble'
price "$call" 'paths = 1000, moment_matching = true'
has 'sampling.paths: 1000 are rounded up to 32768: groups of 1024'
price "$call" 'paths = 2^16'
has_not rounded

# All prices and Greeks of several payoffs; 400 numbers of a path are too many, but step 300 can be seen.
price 'payoffs = { sim.european { strike = 100 }, sim.barrier { strike = 100, level = 80 } },
  steps = 365, payoff = function(path) return path.fixing[1][300] end' 'paths = 2^12' 'greeks = { delta = true, vega = true }'
has 'payoff                                     price                    delta                    vega'
has '1 payoff '
has '2 european call 100'
has '3 down-out call 100 at 80 '
[ "$(grep -c ' +- ' output)" = 3 ] || fail "not a line for each payoff"
price "$call" 'paths = 2^12' 'greeks = { delta = true, gamma = true }'
[ "$(grep -c '^  \(price\|delta\|gamma\)  *[0-9.]* +- [0-9.]*$' output)" = 3 ] || fail "not a line for each Greek"
sed -i 's/^  payoffs.*/  steps = 365, payoff = function(path) local s = 0 for k = 1, 300 do s = s + path.fixing[1][k] end return s end,/' s.lua
expect 65 'more than 256 inputs' "$SIM" s.lua --force --device cpu

# A payoff does not depend on the other asset: that is sure. A digital that no path of the difference met is not.
price 'assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 } }, payoffs = { sim.european { strike = 100 } }' 'paths = 2^12' \
  'greeks = { delta = true }'
grep -q '^  delta of asset 2 *0$' output || fail "noise of a delta that is 0"
has_not ' +- ?'
price 'payoffs = { sim.digital { strike = 150 } }' 'paths = 64' 'greeks = { delta = true, method = "bump" }'
has 'delta unknown'

# Few paths carry lognormal payments: of a volatility of 3 the spread of 2^16 paths tells no error, of 1 it does.
price 'assets = { { spot = 100, vol = 3 } }, payoffs = { sim.european { strike = 1 } }' 'paths = 2^16, standard_error = 20'
grep -q '^  price [0-9.]* +- ?$' output || fail "an error that few paths tell"
has 'paths carry the price of payoffs[1]: rarer paths may be worth more, and its error is unknown'
has 'standard_error = 20 is not reached after 65536 paths'
price 'assets = { { spot = 100, vol = 1 } }, payoffs = { sim.european { strike = 1 } }' 'paths = 2^16'
has_not warning
# Of a volatility of 1.5 few of Sobol's points: a run that is off by 5 errors, carried by some 300 points. Its put is right.
for type in call put; do
  price "assets = { { spot = 100, vol = 1.5 } }, payoffs = { sim.european { strike = 100, type = '$type' } }" \
    'paths = 2^16, sequence = "sobol"' 'seed = 7'
  [ $type = put ] || has 'warning: few points of each scramble carry the price of payoffs[1]: rarer ones'
done
has_not warning
# A knock-in that 2 paths of 65536 carry: 2e-6 +- 6e-6 by their spread, 2.5e-4 by importance sampling.
price 'payoffs = { sim.barrier { strike = 100, level = 70, direction = "down", knock = "in" } }' \
  'paths = 2^16, standard_error = 1e-4' 'steps = 12, seed = 59'
grep -q '^  price [0-9.e-]* +- ?$' output || fail "an error of a knock-in that few paths tell"
has 'standard_error = 0.0001 is not reached'
# Of a call far in the money no path tells the control from the payoff, and no gamma by differences meets the strike.
price 'payoffs = { sim.european { strike = 40 } }' 'paths = 2^12, control = "underlying"'
has 'no path of 4096 tells payoffs[1] from its control'
grep -q '^  price [0-9.]* +- ?$' output || fail "an error that no path tells"
price 'payoffs = { sim.european { strike = 40 } }' 'paths = 2^12' 'greeks = { gamma = true, method = "bump" }'
has 'gamma unknown'

# The Greeks of all payoffs are in tables: a condition sees them, errors of a put's gamma above 0 and below the gamma.
price 'payoffs = { sim.european { strike = 100 }, sim.european { strike = 100, type = "put" } }' 'paths = 2^21' \
  'greeks = { delta = true, gamma = true }, output = { tables = "every 1 steps" }, stop_when = function(o) return sim.all(
  sim.eq(o.delta, o.deltas.payoff_1), sim.lt(math.abs(o.deltas.payoff_2 + 0.363), 0.01), sim.eq(o.delta_error, o.delta_errors.payoff_1),
  sim.gt(o.gamma_errors.payoff_2, 0), sim.lt(o.gamma_errors.payoff_2, 0.1 * o.gammas.payoff_2)) end'
has 'stop_when holds at step 1'

# Runs that end where numbers end: what it was, and where.
wrong() { # wrong TEXT ASSET REST
  printf 'return sim.option { assets = { { spot = 100, %s } }, maturity = 1, steps = 8,\n  %s,\n' "$2" "$3" >w.lua
  printf '  sampling = { paths = 4096, antithetic = true } }\n' >>w.lua
  for precision in double mixed; do expect 80 "$1" "$SIM" w.lua --force --device cpu --precision $precision; done
}
digital='payoffs = { sim.digital { strike = 100 } }' # which pays nothing where a price is NaN
wrong 'assets[1].local_vol is -0.00' 'local_vol = function(S) return 0.2 - 0.01 * (S - 100) end' "$digital"
grep -q 'at S = 12[0-9.]*, t = 0.[0-9]* (path [0-9]*): expected a number >= 0' output || fail "no S and t"
wrong 'expected a number >= 0, at most 1e+18' 'local_vol = function(S) return sim.where(sim.gt(S, 110), 1e19, 0.2) end' "$digital"
wrong 'assets[1].local_vol is NaN at S = 11' 'local_vol = function(S) return math.sqrt(110 - S) / 20 end' "$digital"
wrong 'payoff is NaN on path' 'vol = 0.2' 'payoff = function(path) return math.sqrt(path.last[1] - 100) end'
has ', where last[1] = 9'
wrong 'result 2 of payoff is infinite on path' 'vol = 0.2' 'payoff = function(path) return 1, math.exp(path.last[1] * 10) end'
wrong 'a derivative of a payoff is NaN on path' 'vol = 0.2' 'payoff = function(path) return math.sqrt(path.last[1] - 100 + math.abs(path.last[1] - 100)) end, greeks = { delta = true, method = "pathwise" }'

# Huge and tiny numbers: a line, and no result that is not a number.
huge() { # huge CODE TEXT ASSET SAMPLING REST
  printf 'return sim.option { assets = { { %s } }, maturity = 1, steps = 8, sampling = { %s },\n  %s }\n' "$3" "$4" "$5" >h.lua
  expect "$1" "$2" "$SIM" h.lua --force --device cpu
}
heston='spot = 100, heston = { v = 0.04, kappa = 1.5, theta = 0.05, rho = -0.7, sigma ='
book='payoffs = { sim.european { strike = 100 } }, exposure = { every = 4, hazard = 0.01, paths = 2048, fit_paths = 2048, quantities ='
huge 80 'payoffs[1]: its payments are too large for their error' 'spot = 1e150, vol = 0.2' 'paths = 2048' "${call/100/1e150}"
huge 80 'exposure: EPE, ENE, PFE, CVA, DVA or an error is not a finite number' 'spot = 100, vol = 0.2' 'paths = 2048' "$book { 1.7e308 } }"
huge 65 'its moments are not finite numbers: expected a smaller sigma' "$heston 1.7e308 }" 'paths = 2048' "$call"
huge 65 'no number of steps will do' "$heston 1e150 }" 'paths = 2048' "$call"
huge 0 'is not reached: it is 0.0' "$heston 0.5 }" 'multilevel = true, standard_error = 1e-300, paths = 65536' "$call"
has 'where sampling.paths ended the run'

# A matrix of one asset; a coupon that is meant in per cent.
price 'correlation = { { 1 } }, steps = 4, payoffs = { sim.autocallable { level = 100, coupon = 5, protection = 80 } }' 'paths = 2^12'
has 'payoffs[1]: coupon = 5 is 500 % of cash for each date'

# Prices that fp32 does not resolve.
price "assets = { { spot = 100, vol = 1e-5 } }, $digital" 'paths = 2^10' 'precision = "mixed"'
has 'assets[1] moves by 1e-05 until the first maturity'
price "assets = { { spot = 100, vol = 1e-5 } }, $digital" 'paths = 2^10'
has_not 'until the first maturity'
price "$digital" 'paths = 2^10' 'precision = "mixed"'
has_not 'until the first maturity'

# Greeks whose errors are large by their nature; a swap has no delta.
double='sim.double_barrier { strike = 100, low = 80, high = 130, monitoring = "continuous" }'
price "payoffs = { $double }" 'paths = 2^10' 'greeks = { vega = true }'
has 'warning: payoffs[1]: Greeks of a continuous double barrier are differences of payoffs that jump'
price "payoffs = { $double }" 'paths = 2^10'
has_not 'Greeks of a continuous'
dates='payoffs = { sim.asian { strike = 100, dates = { 1e-6, 1 } } }'
price "$dates" 'paths = 2^10' 'greeks = { theta = true }'
has 'warning: greeks.theta: moves the first date 1e-06, and its error is about 1000 times'
price "${dates/1e-6/0.01}" 'paths = 2^10' 'greeks = { theta = true }'
has_not 'greeks.theta'
price 'steps = 4, payoffs = { sim.variance_swap { strike = 20 }, sim.volatility_swap { strike = 20, maturity = 0.5 } }' 'paths = 2^10' 'greeks = { delta = true }'
grep -Eq '1 variance-swap 20 +[-0-9.]+ \+- [0-9.]+ +0$' output || fail "no line of the variance swap"
grep -Eq '2 volatility-swap 20, to 0.5 +[-0-9.]+ \+- [0-9.]+ +0$' output || fail "no line of the volatility swap"

# Functions of time are integrated over the one step: a call that is its own control has Black and Scholes' price with
# the integrals of rate, dividend and vol^2, to all digits that are shown. Jumps at known times and at others, a curve, a
# dividend of a day and one of a second, and a function that goes up and down.
at_time() { # at_time PRICE ASSET
  price "assets = { { spot = 100, $2 } }, $call" 'control = "black_scholes", paths = 2^10'
  has "price $1 +-"
}
at_time 12.597368 'vol = sim.curve { { 0, 0.1 }, { 0.3, 0.3 }, between = "flat" }'
at_time 12.597368 'vol = function(t) return sim.where(sim.lt(t, 0.3), 0.1, 0.3) end'
at_time 12.597368 'vol = function(t) return sim.where(sim.lt(t*t*t, 0.027), 0.1, 0.3) end'
at_time 10.75734 'vol = sim.curve { { 0, 0.1 }, { 1, 0.3 } }'
at_time 13.580388 'vol = function(t) return 0.2*t^-0.25 end'
at_time 10.91123 'vol = function(t) return 0.2 + 0.1*sim.sin(50*t) end'
at_time 7.5770821 'vol = 0.2, dividend = sim.curve { { 0, 0 }, { 0.5, 0.05*365 }, { 0.5 + 1/365, 0 }, between = "flat" }'
at_time 7.5770821 'vol = 0.2, dividend = sim.curve { { 0, 0 }, { 0.5, 0.05*31536000 }, { 0.5 + 1/31536000, 0 }, between = "flat" }'
at_time 7.5770821 'vol = 0.2, dividend = function(t) return sim.where(sim.lt(math.abs(t - 0.5), 0.5/365), 0.05*365, 0) end'

# Comparisons that are not linear in t, once around a second, which no step of a grid of times shows; a jump just after
# the middle of a piece, beside which the integral over the whole piece and over its halves agree.
at_time 7.5770821 'vol = 0.2, dividend = function(t) return sim.where(sim.lt((t - 0.5)^2, (0.5/31536000)^2), 0.05*31536000, 0) end'
at_time 7.5770822 'vol = 0.2, dividend = function(t) local a = sim.exp(t) return sim.where(sim.all(sim.ge(a, math.exp(0.5 - 0.5/31536000)), sim.lt(a, math.exp(0.5 + 0.5/31536000))), 0.05*31536000, 0) end'
# Two short dividends between two times of that grid, apart and close; and one beside a jump that the grid shows.
at_time 7.5770821 'vol = 0.2, dividend = function(t) return sim.where(sim.lt(((t-0.3)^2 - 1e-12)*((t-0.30002)^2 - 1e-12), 0), 12500, 0) end'
at_time 7.5770821 'vol = 0.2, dividend = function(t) return sim.where(sim.lt(((t-0.3)^2 - 1e-12)*((t-0.300003)^2 - 1e-12), 0), 12500, 0) end'
at_time 7.5770821 'vol = 0.2, dividend = function(t) return sim.where(sim.lt((t-0.4)*((t-0.400005)^2 - 1e-12), 0), 1, 0)*sim.where(sim.gt(t, 0.400001), 25000, 0) end'
has_not 'too often'
at_time 11.338773 'vol = function(t) return sim.where(sim.lt(sim.sin(t), math.sin(0.5 + 0.005/2048)), 0.1, 0.3) end'
at_time 11.338789 'vol = function(t) return 0.1 + 0.2*(sim.floor(100*t) % 2) end'
price 'assets = { { spot = 100, vol = function(t) return 0.2 + 1e-15*(sim.floor(50000*t) % 2) end } }, '"$call" 'control = "black_scholes", paths = 2^10'
has 'assets[1].vol jumps or bends too often to find every place'

# A curve is a function of numbers too, and of what a function computes; constant outside of its points.
cat >c.lua <<'END'
local c, f = sim.curve { { 0, 1 }, { 0.5, 2 } }, sim.curve { { 0, 1 }, { 0.5, 2 }, between = "flat" }
for i, pair in ipairs { { c(-1), 1 }, { c(0.25), 1.5 }, { c(9), 2 }, { f(0.49), 1 }, { f(0.5), 2 } } do
  if pair[1] ~= pair[2] then error("curve " .. i .. " gives " .. pair[1]) end
end
return sim.option { assets = { { spot = 100, vol = function(t) return c(t)/10 + f(t)/10 end } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } }, sampling = { control = "black_scholes", paths = 64 } }
END
expect 0 'price 13.269511 +-' "$SIM" c.lua --force --device cpu
# A time that is none gives none, as a number and in a function: no point of the curve, nor the last value.
cat >nan.lua <<'END'
local c, f, one = sim.curve { { 0, 1 }, { 0.5, 2 } }, sim.curve { { 0, 1 }, { 0.5, 2 }, between = "flat" }, sim.curve { { 0, 1 } }
for _, curve in ipairs { c, f, one } do
  local value = curve(0/0)
  if value == value then error("a curve of NaN is " .. value) end
end
local which = ({ c, f, one })[sim.param("which", 1)]
return sim.option { assets = { { spot = 100, vol = 0.2 } }, maturity = 1, sampling = { paths = 64 },
  payoff = function(path) return which(math.sqrt(path.last[1] - 1000)) end }
END
for which in 1 2 3; do expect 80 'payoff is NaN on path 0' "$SIM" nan.lua --force --device cpu --set which=$which; done

# Dates by a calendar are the numbers that they stand for (QuantLib 1.44's schedule, tests/lua/dates.py), with --set too.
cat >calendar.lua <<'END'
local c = sim.calendar { today = sim.param("today", "2026-02-27"), count = "ACT/360", roll = "modified_following",
  holidays = { "2026-04-06", "2026-01-01", "2026-04-03", "2026-05-01", "2026-07-31", "2026-12-25", "2027-01-01" } }
local coming, passed = c.dates { from = "2026-01-31", to = "2027-01-15", every = "1M" }
print(#passed, table.concat(coming, " "))
print(c.date "2026-05-01", c.date("2026-04-02", "1B"), c.fraction("2026-01-30", "2026-03-31") * 360)
local by_number = sim.param("by_number", false)
local days = { 32, 62, 91, 123, 153, 185, 215, 245, 276, 307, 322 }
for i, day in ipairs(days) do days[i] = day / 360 end
return sim.option { assets = { { spot = 100, vol = sim.curve { { 0, 0.2 }, { by_number and 290/360 or c.time "2026-12-12", 0.3 } } } },
  rate = 0.03, maturity = by_number and 322/360 or c.time "2027-01-15", sampling = { paths = 2^10 },
  payoffs = { sim.asian { strike = 100, dates = by_number and days or c.time(coming) } } }
END
expect 0 '1  2026-03-31 2026-04-30 2026-05-29 2026-06-30 2026-07-30 2026-08-31 2026-09-30 2026-10-30 2026-11-30 2026-12-31 2027-01-15' \
  "$SIM" calendar.lua --force --device cpu -o by_date.out
has '2026-05-04  2026-04-07  60.0'
expect 0 '' "$SIM" calendar.lua --force --device cpu -o by_number.out --set by_number=true
same by_date.out by_number.out "dates by a calendar"
expect 65 'calendar.lua:1: sim.calendar: today: expected a date of 1900 to 2199 such as "2026-03-02", got "2026-02-30"' \
  "$SIM" calendar.lua --force --device cpu --set today=2026-02-30

# Sobol's points of a digital whose strike all scrambles count alike: the error bar is the worth of a point, exp(-0.05)/2^16 = 1.45e-5, and
# holds the price, exp(-0.05) N(0.149905) = 0.53230, of which the counts are off by less than a point a scramble, 32 of them.
price 'payoffs = { sim.digital { strike = 100.0019 } }' 'sequence = "sobol", paths = 2^16'
has 'price 0.53229426 +- 1.5e-05'
price 'payoffs = { sim.digital { strike = 100.0019 } }' 'sequence = "sobol", standard_error = 1e-6, paths = 2^18'
has 'standard_error = 1e-06 is not reached'
# All paths pay: nothing is known of those that do not, but that they are rare.
price 'payoffs = { sim.digital { strike = 1 } }' 'paths = 2^16'
has '+- 1.5e-05'

# An accuracy takes as many paths as it takes: with a deviation of 14.72 the error 0.1 takes 21671, of which a run may use 4096 for a look
# and 5 % and a group of 1024 more, and as much again where errors of so few paths are off by 5 %.
price "$call" 'standard_error = 0.1'
paths=$(key time s.out)
awk -v n="${paths%.*}" 'BEGIN { exit !(n >= 20000 && n <= 1.15 * 21671) }' || fail "took $paths paths"

# More paths for a run that has ended: the digest and the tables of a straight run, also where the first end lies within a block.
more() { # more SAMPLING
  printf 'return sim.option { assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },\n' >m.lua
  printf '  sampling = { paths = sim.param("n", 3e5), %s }, output = { tables = "every 1 steps" } }\n' "$1" >>m.lua
  expect 0 '' "$SIM" m.lua --force --device cpu -o m1 --set n=123456
  expect 0 '' "$SIM" m.lua --resume --device cpu -o m1
  grep 'digest' output >digest.1
  expect 0 '' "$SIM" m.lua --force --device cpu -o m2
  grep 'digest' output | cmp - digest.1 || fail "another digest after more paths"
}
more ''
more 'antithetic = true, generator = "mrg32k3a"'
more 'sequence = "sobol"'


# The bias of steps that are not exact: of Euler's two steps of a local volatility, and where steps are exact none.
price 'assets = { { spot = 100, local_vol = function(S) return math.min(20 / S + 0.1, 1) end } }, steps = 2, payoffs = { sim.european { strike = 100 } }' 'paths = 2^18'
grep -Eq '^  bias -?[0-9.]+ \+- [0-9.]+ of the time steps, not in the standard error' output || fail "no bias"
in_tables bias_error
price "$call" 'paths = 2^12'
has_not bias
# A constant local volatility is stepped exactly: what is left is rounding, 0 in the tables. Of a digital every path pays
# the same with both steps, and of what never pays nothing is known.
price 'assets = { { spot = 100, local_vol = function(S) return 0.2 end } }, steps = 4, payoffs = { sim.european { strike = 100 },
  sim.digital { strike = 100 }, sim.european { strike = 1000 } }' 'paths = 2^21' \
  'output = { tables = "every 1 steps" }, stop_when = function(o) return sim.all(sim.eq(o.biases.payoff_1, 0), sim.gt(o.bias_errors.payoff_1, 0),
  sim.lt(o.bias_errors.payoff_1, 1e-10)) end'
has 'stop_when holds at step 1'
has 'bias 0 but for rounding of the time steps, not in the standard error: 1 european call 100'
has 'bias 0 +- ? of the time steps, not in the standard error: 2 digital'
has 'bias 0 +- ? of the time steps, not in the standard error: 3 european call 1000'

# A local volatility without a bound towards 0, to which paths come: they end there.
price 'assets = { { spot = 100, local_vol = function(S) return 20 / sim.sqrt(S) end } }, steps = 64, payoffs = { sim.digital { strike = 1, type = "put" } }' 'paths = 2^14'
grep -Eq '^  price 0\.5(6|7|8)[0-9]* \+- 0\.003' output || fail "not the chance of 0 of a CEV model"

# A local volatility that jumps inside a step is told, once an asset; one that jumps at a step's end or does not depend on time
# is not, nor one that jumps by less than a hundredth.
local_vol() { price "assets = { { spot = 100, local_vol = function(S, t) return $1 end } }, steps = 4, $call" 'paths = 2^10'; }
local_vol 'sim.where(sim.lt(t, 0.3), 0.2, 0.3)'
has 'warning: assets[1].local_vol jumps at t = 0.3, inside a step of 0.25'
local_vol 'sim.where(sim.lt(2*t - 0.5, 0.1), 0.2, 0.3) + sim.where(sim.lt(t, 0.7), 0.1, 0)'
[ "$(grep -c 'local_vol jumps at t' output)" = 1 ] || fail "not one warning of a local volatility that jumps twice"
for calm in 'sim.where(sim.lt(t, 0.5), 0.2, 0.3)' 'sim.where(sim.lt(t, 0.3), 0.2, 0.201)' 'sim.where(sim.lt(S, 100), 0.2, 0.3)' '0.2 + 0.1*t'; do
  local_vol "$calm"
  has_not 'local_vol jumps'
done
price 'assets = { { spot = 100, heston = { v = 0.04, kappa = 0.5, theta = 0.04, sigma = 1, rho = -0.9 } } }, payoffs = { sim.european { strike = 100 }, sim.european { strike = 120 } }, steps = 2' \
  'paths = 2^20, standard_error = 0.02'
has 'warning: the time steps shift the price of payoffs['
has 'warning: assets[1].heston: steps = 2 are too long'
[[ $(key remark s.out) == "the time steps shift the price of payoffs["* ]] || fail "no remark on the bias"

# Assets of correlation 1 are one: the best of two equal ones is either.
price 'assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.2 } }, correlation = { { 1, 1 }, { 1, 1 } }, payoffs = { sim.european { strike = 100 }, sim.best_of { strike = 100 } }' 'paths = 2^14'
[ "$(grep -Eo ' call 100 .*' output | grep -Eo '[0-9.]+ \+- [0-9.]+' | sort -u | wc -l)" = 1 ] || fail "the best of one asset and itself is not that asset"

# Nearly one, 1 - 1e-14: the spread of the two has Margrabe's price, 100 erf(0.2 sqrt(2e-14)/sqrt(8)) = 1.128e-6, and its error
# bar holds it, with 1 % of the pivot for the rounding of 1 - c^2. Nearer than rounding it is 1: a spread of nothing.
spread() { price "assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.2 } }, correlation = { { 1, $1 }, { $1, 1 } }, payoffs = { sim.spread { strike = 0 } }" \
  'paths = 2^18' 'greeks = { delta = true }'; }
spread '1 - 1e-14'
awk '$1 == "price" { off = $2 - 1.128e-6; found = $4 > 1e-9 && $4 < 1e-8 && off^2 < (4 * $4 + 1.1e-8)^2 } END { exit !found }' output ||
  fail "not the spread of two assets of correlation 1 - 1e-14"
for one in 1 '1 - 1e-15'; do
  spread "$one"
  has 'price            0 +- ?'
  [ "$(grep -c '^  delta of asset [12] .*\(+- ?\|unknown\)$' output)" = 2 ] || fail "an error of the Greeks of what never pays"
done

# The other generator: another sample of the same price, and cuRAND is named.
price "$call" 'paths = 2^16, generator = "mrg32k3a"'
grep -Eq '^  price 10\.(3|4|5)[0-9]* \+- 0\.05' output || fail "no price with mrg32k3a"
expect 0 "cuRAND" "$SIM" info

# The time of a plan: a joint law between the steps of three markets is 93 of plain paths and more (measured: 90).
rate() { sed -n 's/^steps .* at \(.*\) path-steps.*/\1/p' output; }
market='assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 252, sampling = { paths = 2^15 }'
joint='sim.double_barrier { strike = 100, low = 80, high = 130, monitoring = "continuous" }'
echo "return sim.option { $market, payoffs = { sim.asian { strike = 100 } } }" >s.lua
expect 0 'no faults' "$SIM" check s.lua --device cpu --threads 1
plain=$(rate)
echo "return sim.option { $market, payoffs = { $joint }, greeks = { delta = true } }" >s.lua
expect 0 'no faults' "$SIM" check s.lua --device cpu --threads 1
awk -v a="$plain" -v b="$(rate)" 'BEGIN { exit !(a > 50 * b && a < 200 * b) }' || fail "rates $plain and $(rate) in plans"

# The times of rules and of an upper bound stand before that of the steps: here those of 2^16 paths of 252 steps for the
# rule, once more for the bound's own, and of 64 * 512 paths from three dates on, of 189, 126 and 63 steps: 1.24e7
# path-steps. A step of Heston's model counts as six, and those of the least 2^14 paths for the bias, in steps of two
# lengths, are 1.5 times those of the run's 2^15.
bound='sim.american { strike = 100, type = "put", every = 63, upper_paths = 64, inner_paths = 512 }'
echo "return sim.option { $market, precision = \"double\", payoffs = { $bound } }" >s.lua
expect 0 'no faults' "$SIM" check s.lua --device cpu --threads 1
begins() { sed -n 's/^start .*about \(.*\) s before the first step/\1/p' output; }
awk -v a="$(begins)" -v b="$(rate)" 'BEGIN { c = 2 * 65536 * 252 + 1.24e7; exit !(a * b > 0.8 * c && a * b < 1.3 * c) }' ||
  fail "an upper bound of $(begins) s in a plan of $(rate) path-steps/s"
sed -i 's/, upper_paths = 64, inner_paths = 512//' s.lua
expect 0 'no faults' "$SIM" check s.lua --device cpu --threads 1
plain=$(rate)
awk -v a="$(begins)" -v b="$plain" 'BEGIN { c = 65536 * 252; exit !(a * b > 0.8 * c && a * b < 1.3 * c) }' ||
  fail "a rule of $(begins) s in a plan of $plain path-steps/s"
sed -i 's/vol = 0.2/heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.5 }/g' s.lua
expect 0 'no faults' "$SIM" check s.lua --device cpu --threads 1
awk -v a="$plain" -v b="$(rate)" 'BEGIN { exit !(a > 12 * b && a < 18 * b) }' ||
  fail "rates $plain, and under Heston $(rate) in plans"

# A Greek by an asset that the payoff does not see has no noise.
echo 'return sim.option { assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.3 } }, rate = 0.05, maturity = 1,
  payoffs = { sim.european { strike = 100 }, sim.worst_of { strike = 90 } }, sampling = { paths = 2^12 }, greeks = { vega = true } }' >s.lua
expect 0 'vega of asset 2' "$SIM" s.lua --force --device cpu
grep -Eq '^  1 european call 100 of 1 .* \+- [0-9.]+ +0$' output || fail "a vega that is 0 has noise: $(cat output)"

# An exposure has the same numbers on any number of ranks and threads, and in a run that goes on.
book='payoffs = { sim.asian { strike = 100 }, sim.american { strike = 100, type = "put", fit_paths = 4096 } }, steps = 6'
price "$book" 'paths = sim.param("n", 2^12)' 'exposure = { every = 3, quantities = { 1, -1 }, hazard = 0.02, values = 3, paths = 2^12, fit_paths = 2^12 }'
exposures() { sed -n '/exposure at/,/CVA/p' output; }
has 'CVA'
in_tables 'exposure_times'
exposures >exposures.1
[ "$(wc -l <exposures.1)" = 5 ] || fail "an exposure of $(cat exposures.1)"
for way in '--ranks 3' '--ranks 2 --threads 1' '--threads 3'; do
  # shellcheck disable=SC2086
  expect 0 'CVA' "$SIM" s.lua --force --device cpu $way
  exposures | cmp - exposures.1 || fail "another exposure with $way"
done
expect 0 'CVA' "$SIM" s.lua --resume --device cpu --set n=8192
exposures | cmp - exposures.1 || fail "another exposure after a restart"
"$SIM" verify s.out >/dev/null || fail "a damaged exposure.h5"
# `sim check` tells the size of the files of the end, within a twentieth and their fixed part.
expect 0 'no faults' "$SIM" check s.lua --device cpu --set n=8192
has 'at the end  exposure.h5: '
has_not 'paths.h5'
price "$book" 'paths = 2^12' 'exposure = { every = 1, values = 4096, paths = 2^12, fit_paths = 2^12 }, paths = { count = 4000 }'
expect 0 'no faults' "$SIM" check s.lua --device cpu
sizes() { sed -n 's/^at the end  *\([a-z.0-9]*\): \([0-9.]*\) \([KMG]i\)B$/\1 \2\3/p' output | numfmt --field=2 --from=iec-i; }
sizes >expected
[ "$(wc -l <expected)" = 2 ] || fail "no sizes of files in $(cat output)"
while read -r file bytes; do
  own=$(stat -c %s "s.out/$file")
  [ "$own" -lt $((bytes * 21 / 20 + 8192)) ] && [ "$own" -gt $((bytes * 19 / 20 - 16384)) ] ||
    fail "$file has $own bytes, and check told $bytes"
done <expected
h5dump -d quantity -d contract s.out/exposure.h5 >contracts || fail "no contracts in exposure.h5"
grep -q '"1 asian call 100"' contracts && grep -q 'number of the contract, from 1 on' contracts || fail "contracts: $(cat contracts)"
h5dump -a value/units s.out/exposure.h5 | grep -q 'money of the run' || fail "no unit of value"
price "$book" 'paths = sim.param("n", 2^12)' 'exposure = { every = 3, quantities = { 1, -1 }, hazard = 0.02, values = 3, paths = 2^12, fit_paths = 2^12 }'
for threads in 1 3; do
  "$SIM" s.lua --json --device cpu --threads "$threads" | grep -o '"datasets".*' >values.$threads
done
grep -q '"exposure": {"axes": {"path": \[0, 1, 2\], "asset": \[1\], "time": \[0, 0.5, 1\]' values.1 ||
  fail "no values in $(head -c 300 values.1)"
cmp values.1 values.3 || fail "other values along paths with three threads"

# A rule that sees volatilities and its bound have the same numbers on any number of ranks and threads.
echo 'return sim.option { assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.5 } },
  { spot = 100, sabr = { alpha = 2, beta = 0.5, rho = -0.4, nu = 0.5 } } }, rate = 0.05, maturity = 1, steps = 8,
  payoffs = { sim.american { strike = 100, type = "put", every = 4, fit_paths = 3072, upper_paths = 70, inner_paths = 64 },
    sim.american { strike = 100, type = "put", on = "worst_of", every = 2, fit_paths = 3072 } },
  greeks = { delta = true, vega = true }, sampling = { paths = 2^14 } }' >s.lua
expect 0 'digest' "$SIM" s.lua --force --device cpu --threads 1
grep 'upper\|digest' output >rule.1
for way in '--ranks 3' '--threads 3'; do
  # shellcheck disable=SC2086
  expect 0 'digest' "$SIM" s.lua --force --device cpu $way
  grep 'upper\|digest' output | cmp - rule.1 || fail "another rule with $way"
done

# A ladder and paths have the same numbers on any number of ranks and threads, and in a run that goes on; both files are
# checked with the others. A run without a folder prints them.
price "$book" 'paths = sim.param("n", 2^16)' 'ladder = { spot = { -0.1, 0, 0.1 }, vol = { 0, 0.05 } }, paths = { count = 100, every = 3 }'
ladder() { sed -n '/ladder of/,/relative_error/p' output; }
has 'ladder of 6 points, in ladder.h5'
ladder >ladder.1
[ "$(wc -l <ladder.1)" = 12 ] || fail "a ladder of $(cat ladder.1)"
expect 0 '5 files, 0 faults' "$SIM" verify s.out
for way in '--ranks 3' '--threads 3'; do
  # shellcheck disable=SC2086
  expect 0 'ladder of' "$SIM" s.lua --force --device cpu $way
  ladder | cmp - ladder.1 || fail "another ladder with $way"
done
for threads in 1 2; do
  "$SIM" s.lua --json --device cpu --threads "$threads" | grep -o '"datasets".*' >datasets.$threads
done
grep -q '"ladder": {"axes": {"payoff": \["1 asian call 100", .*"paths": {"axes": {"path": \[0, 1, ' datasets.1 ||
  fail "no datasets in $(head -c 300 datasets.1)"
cmp datasets.1 datasets.2 || fail "other datasets with two threads"
expect 0 'ladder of' "$SIM" s.lua --force --device cpu --set n=131072
ladder >ladder.2
expect 0 'ladder of' "$SIM" s.lua --force --device cpu
expect 0 'ladder of' "$SIM" s.lua --resume --device cpu --set n=131072
ladder | cmp - ladder.2 || fail "another ladder after a restart"
printf x | dd of=s.out/ladder.h5 bs=1 seek=3000 conv=notrunc status=none
expect 83 'ladder.h5: damaged' "$SIM" verify s.out

# Vega by node has the same numbers on any number of ranks and threads, of Sobol points and in a run that goes on; the
# curve may be a file. The file of nodes is checked with the others.
printf '0 0.2\n0.25 0.25\n0.5 0.2\n' >vol.csv
echo 'return sim.option { assets = { { spot = 100, vol = sim.param("vol", "vol.csv") } }, rate = sim.curve { {0, 0.01}, {1, 0.05} },
  maturity = 1, steps = 4, payoffs = { sim.asian { strike = 100 }, sim.american { strike = 105, type = "put", fit_paths = 4096 } },
  greeks = { vega = true, vega_bucket = true, rho_bucket = true },
  sampling = { paths = sim.param("n", 2^16), sequence = sim.param("sequence", "philox") } }' >s.lua
nodes() { sed -n '/^  payoff /,/relative_error/p' output; }
for sequence in sobol philox; do
  expect 0 'vega at 0.25' "$SIM" s.lua --force --device cpu --threads 1 --set sequence=$sequence
  nodes >nodes.1
  for way in '--ranks 3' '--threads 3'; do
    # shellcheck disable=SC2086
    expect 0 'rho at 1' "$SIM" s.lua --force --device cpu --set sequence=$sequence $way
    nodes | cmp - nodes.1 || fail "other derivatives by nodes of $sequence with $way"
  done
done
expect 0 '0 faults' "$SIM" verify s.out
in_tables 'vega_bucket_errors'
expect 0 'vega at 0.25' "$SIM" s.lua --force --device cpu --set n=131072
nodes >nodes.2
expect 0 'vega at 0.25' "$SIM" s.lua --force --device cpu
expect 0 'vega at 0.25' "$SIM" s.lua --resume --device cpu --set n=131072
nodes | cmp - nodes.2 || fail "other derivatives by nodes after a restart"
"$SIM" s.lua --json --device cpu | grep -q '"vega_buckets": {"axes": {"payoff": \["1 asian call 100", .*"time"' ||
  fail "no nodes in the JSON"
printf x | dd of=s.out/vega_buckets.h5 bs=1 seek=3000 conv=notrunc status=none
expect 83 'vega_buckets.h5: damaged' "$SIM" verify s.out

# A multilevel run has the same numbers on any number of ranks and threads, and goes on to a smaller error.
echo 'return sim.option { assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.4, rho = -0.7 } } },
  maturity = 1, steps = 4, payoffs = { sim.european { strike = 100 }, sim.digital { strike = 90, cash = 10 } },
  sampling = { multilevel = true, standard_error = sim.param("e", 0.3), paths = sim.param("n", 2^40) } }' >s.lua
expect 0 'times that of the best levels' "$SIM" s.lua --force --device cpu --threads 1
in_tables 'level_deviations'
digest=$(sed -n 's/.*digest \([0-9a-f]*\).*/\1/p' output)
for way in '--ranks 3' '--ranks 2 --threads 1' '--threads 3'; do
  # shellcheck disable=SC2086
  expect 0 "digest $digest" "$SIM" s.lua --force --device cpu $way
done
expect 0 '+- 0.09' "$SIM" s.lua --resume --device cpu --set e=0.1
sed -e 's/multilevel = true/&, randomised = true/' -e 's/, sim.digital[^}]*}//' s.lua >t.lua
expect 0 'levels 3 to 12: drawn at random' "$SIM" t.lua --force --device cpu --threads 1
digest=$(sed -n 's/.*digest \([0-9a-f]*\).*/\1/p' output)
for way in '--ranks 3' '--threads 3'; do
  # shellcheck disable=SC2086
  expect 0 "digest $digest" "$SIM" t.lua --force --device cpu $way
done
expect 0 '+- 0.09' "$SIM" t.lua --resume --device cpu --set e=0.1
expect 0 'standard_error = 1e-05 is not reached' "$SIM" s.lua --force --device cpu --set n=20000 --set e=1e-5
has 'where sampling.paths ended the run'

# Prices of assets with random volatilities correlate by less than `correlation`: 0.5 (1 - 0.6^2)^0.5 (1 - 0.8^2)^0.5.
echo 'local heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = function(t) return -0.6 - 0.1 * t end }
return sim.option { assets = { { spot = 100, vol = 0.2 }, { spot = 90, heston = heston },
  { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.8, nu = 0.3 } } },
  correlation = { { 1, 0, 0 }, { 0, 1, 0.5 }, { 0, 0.5, 1 } }, maturity = 1, steps = 20,
  payoffs = { sim.worst_of { strike = 90 } }, sampling = { paths = 2^10 } }' >s.lua
expect 0 'correlation of assets 2 and 3: 0.5 is that of what their volatilities do not share; their prices correlate by 0.24' \
  "$SIM" s.lua --force --device cpu
sed -i 's/0, 0.5/0, 0/; s/0, 1, 0.5/0.5, 1, 0/; s/1, 0, 0/1, 0.5, 0/' s.lua # with `vol`: 0.5 (1 - 0.6^2)^0.5
expect 0 'correlation of assets 1 and 2: 0.5 is that of what their volatilities do not share; their prices correlate by 0.4' \
  "$SIM" s.lua --force --device cpu
sed -i 's/-0.6 - 0.1 \* t/0 * t/' s.lua
expect 0 '' "$SIM" s.lua --force --device cpu
has_not 'their prices correlate'

# Greeks that no table has room for: 66 cross gammas of twelve assets.
echo 'local assets, one = {}, {}
for i = 1, 12 do
  assets[i], one[i] = { spot = 100, vol = 0.2 }, {}
  for j = 1, 12 do one[i][j] = i == j and 1 or 0.3 end
end
return sim.option { assets = assets, correlation = one, maturity = 1, payoffs = { sim.basket { strike = 100 } },
  greeks = { delta = true, cross_gamma = true }, sampling = { paths = 2^12 } }' >s.lua
expect 0 'warning: greeks: cross_gamma has too many numbers for a table' "$SIM" s.lua --force --device cpu
has 'cross_gamma of assets 11 and 12'
