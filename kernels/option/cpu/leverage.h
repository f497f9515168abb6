/* Calibration of leverage functions by particles, on the host. */
#ifndef OPTION_CPU_LEVERAGE_H
#define OPTION_CPU_LEVERAGE_H

#include "engine/model.h"
#include "kernels/option/models/leverage.h"

/* Whether any asset has a leverage function. */
bool option_any_leverage(const option_parameters *p);
/* Sets the leverage functions of all assets of markets[count]: rows of option_dynamics. The same bits for any number of
 * threads and ranks: each rank computes all, sums over blocks of particles are added in order. Calibrations of the last
 * markets are kept in the process, so that a market with the same numbers costs nothing. setup: threads and instruction
 * set. SIM_ERR_DIVERGED where the local volatility is invalid at a price that particles have, SIM_ERR_NO_MEMORY. */
sim_status option_leverage_calibrate(const option_parameters *p, const sim_setup *setup, option_market *markets,
                                     int count) SIM_MUST_CHECK;
/* Frees the calibrations that are kept. */
void option_leverage_forget(void);
/* Prices the quotes of one asset with its calibrated function on particles that the calibration has not seen. Errors as
 * above. */
sim_status option_leverage_check(const option_parameters *p, const sim_setup *setup, int asset,
                                 option_quote out[OPTION_QUOTES]) SIM_MUST_CHECK;
/* Bytes of a calibration and of the kept ones; path-steps of the calibrations of a run's markets, of the bias and of
 * the check. */
double option_leverage_bytes(const option_parameters *p);
double option_leverage_work(const option_parameters *p);

#endif
