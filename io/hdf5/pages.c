#include "io/hdf5/pages.h"

#include <stdlib.h>
#include <string.h>

void io_pages_load(const io_pages *pages, uint64_t at, size_t size, void *out) {
  for (char *to = out; size > 0;) {
    const size_t page = at / IO_PAGE, from = at % IO_PAGE, some = size < IO_PAGE - from ? size : IO_PAGE - from;
    if (page < pages->count && pages->page[page])
      memcpy(to, pages->page[page] + from, some);
    else
      memset(to, 0, some);
    at += some, to += some, size -= some;
  }
}

static bool reserve(io_pages *pages, size_t count) {
  if (count <= pages->count) return true;
  const size_t more = count > 2 * pages->count ? count : 2 * pages->count;
  unsigned char **grown = realloc(pages->page, more * sizeof *grown);
  if (!grown) return false;
  memset(grown + pages->count, 0, (more - pages->count) * sizeof *grown);
  pages->page = grown;
  pages->count = more;
  return true;
}

bool io_pages_store(io_pages *pages, uint64_t at, size_t size, const void *data) {
  if (size == 0) return true;
  if (!reserve(pages, (size_t)((at + size - 1) / IO_PAGE) + 1)) return false;
  for (const char *from = data; size > 0;) {
    const size_t page = at / IO_PAGE, to = at % IO_PAGE, some = size < IO_PAGE - to ? size : IO_PAGE - to;
    if (!pages->page[page] && !(pages->page[page] = calloc(1, IO_PAGE))) return false;
    memcpy(pages->page[page] + to, from, some);
    at += some, from += some, size -= some;
  }
  if (at > pages->size) pages->size = at;
  return true;
}

void io_pages_free(io_pages *pages) {
  for (size_t i = 0; i < pages->count; i++) free(pages->page[i]);
  free(pages->page);
  *pages = (io_pages){0};
}
