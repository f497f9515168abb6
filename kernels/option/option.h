/* The model `option`: prices and Greeks by Monte Carlo simulation. Parameters and descriptor. */
#ifndef OPTION_OPTION_H
#define OPTION_OPTION_H

#include "kernels/option/scenario/parameters.h"

extern const sim_model option_model;
extern const sim_bench option_bench[]; /* rows of `sim bench` */

#endif
