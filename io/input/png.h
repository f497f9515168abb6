/* PNG images of all colours and depths, read by libpng. */
#ifndef SIM_IO_PNG_H
#define SIM_IO_PNG_H

#include "engine/model.h"

/* Reads values[ny][nx] from 0 to 1, lowest row of the image first; grey of a colour image is 0.2126 red + 0.7152 green
 * + 0.0722 blue. values NULL: reads only the header. The image must be nx wide and ny high. `fd` stays open. */
sim_status io_png_read(int fd, const char *path, int channel, int64_t nx, int64_t ny, double *values) SIM_MUST_CHECK;

#endif
