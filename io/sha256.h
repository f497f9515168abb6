/* SHA-256 (FIPS 180-4). */
#ifndef SIM_IO_SHA256_H
#define SIM_IO_SHA256_H

#include <stddef.h>

/* Writes the hash of data[size]: 64 hex digits and a NUL. */
void io_sha256(const void *data, size_t size, char out[65]);

#endif
