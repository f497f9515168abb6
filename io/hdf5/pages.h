/* A file in memory, stored as a table of pages. */
#ifndef SIM_IO_PAGES_H
#define SIM_IO_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_PAGE = 4096 }; /* bytes */

/* Initialize with {0}. */
typedef struct io_pages {
  unsigned char **page; /* [count], owned; NULL: the page has only zeros */
  size_t count;
  uint64_t size; /* bytes of the file */
} io_pages;

/* Copies bytes [at, at + size) to `out`; zeros after the end. */
void io_pages_load(const io_pages *pages, uint64_t at, size_t size, void *out);
/* Copies `size` bytes to offset `at`, and extends the file if needed. False: out of memory. */
bool io_pages_store(io_pages *pages, uint64_t at, size_t size, const void *data);
void io_pages_free(io_pages *pages);

#endif
