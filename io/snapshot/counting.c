/* HDF5's shuffle puts the first bytes of all numbers first, then the second ones, and so on. The first two rows of
 * bytes repeat after 8 chunks, and every other row has one value throughout a chunk. Rows are compressed apart, each
 * ending at a whole byte (RFC 1951, 3.2.4), and put between the head and the checksum of a stream (RFC 1950). */
#include "io/snapshot/counting.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { N = IO_COUNTING_CHUNK, VARIANTS = (1 << 16) / N, ROWS = 8, ROOM = 2048 };

/* Rows of bytes, compressed without an end. */
typedef struct rows {
  unsigned char bytes[ROOM];
  size_t size; /* 0: not made yet */
  uLong sum;   /* Adler-32 of the rows */
} rows;

static bool compress_rows(const unsigned char *from, size_t count, rows *out) {
  z_stream z = {
      .next_in = (unsigned char *)(uintptr_t)from, .avail_in = (uInt)count, .next_out = out->bytes, .avail_out = ROOM};
  if (deflateInit2(&z, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  const bool good = deflate(&z, Z_FULL_FLUSH) == Z_OK && z.avail_in == 0 && z.avail_out > 0;
  (void)deflateEnd(&z);
  out->size = good ? ROOM - z.avail_out : 0;
  out->sum = adler32(adler32(0, NULL, 0), from, (uInt)count);
  return good;
}

typedef struct counting {
  rows low[VARIANTS], same[256]; /* the first two rows of a chunk; a row of one value */
  unsigned char chunk[4 + (ROWS - 1) * ROOM + 8];
} counting;

static const rows *low_rows(counting *c, hsize_t chunk) {
  rows *out = &c->low[chunk % VARIANTS];
  unsigned char bytes[2 * N];
  if (out->size) return out;
  for (hsize_t i = 0; i < N; i++) {
    bytes[i] = (unsigned char)i;
    bytes[N + i] = (unsigned char)((chunk * N + i) >> 8);
  }
  return compress_rows(bytes, sizeof bytes, out) ? out : NULL;
}

static const rows *same_row(counting *c, unsigned char value) {
  rows *out = &c->same[value];
  unsigned char bytes[N];
  if (out->size) return out;
  memset(bytes, value, sizeof bytes);
  return compress_rows(bytes, sizeof bytes, out) ? out : NULL;
}

/* Makes the compressed chunk; returns its size in bytes, 0 on failure. */
static size_t make_chunk(counting *c, hsize_t chunk) {
  static const unsigned char head[] = {0x78, 0x01}, end[] = {0x03, 0x00}; /* end: a last block without bytes */
  unsigned char *to = c->chunk;
  uLong sum = adler32(0, NULL, 0);
  memcpy(to, head, sizeof head), to += sizeof head;
  for (int row = 1; row < ROWS; row++) {
    const rows *r = row == 1 ? low_rows(c, chunk) : same_row(c, (unsigned char)((chunk * N) >> 8 * row));
    if (!r) return 0;
    memcpy(to, r->bytes, r->size), to += r->size;
    sum = adler32_combine(sum, r->sum, row == 1 ? 2 * N : N);
  }
  memcpy(to, end, sizeof end), to += sizeof end;
  for (int i = 0; i < 4; i++) *to++ = (unsigned char)(sum >> (24 - 8 * i));
  return (size_t)(to - c->chunk);
}

hsize_t io_counting_write(hid_t set, hsize_t count) {
  counting *c = calloc(1, sizeof *c);
  hsize_t at = 0;
  for (; c && at + N <= count; at += N) {
    const size_t size = make_chunk(c, at / N);
    if (size == 0 || H5Dwrite_chunk(set, H5P_DEFAULT, 0, &at, size, c->chunk) < 0) break;
  }
  free(c);
  return at;
}
