#include "engine/memory/bytes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(sim_bytes *bytes, size_t more) {
  if (bytes->failed) return false;
  if (more < bytes->capacity - bytes->size) return true; /* the NUL needs one byte more */
  size_t wanted = bytes->size + more + 1;
  if (wanted < more) {
    bytes->failed = true;
    return false;
  }
  size_t capacity = bytes->capacity < 64 ? 64 : bytes->capacity;
  while (capacity < wanted) capacity = capacity > SIZE_MAX / 2 ? wanted : capacity * 2;
  char *data = realloc(bytes->data, capacity);
  if (!data) {
    bytes->failed = true;
    return false;
  }
  bytes->data = data;
  bytes->capacity = capacity;
  return true;
}

void sim_bytes_add(sim_bytes *bytes, const void *data, size_t size) {
  if (!reserve(bytes, size)) return;
  if (size) memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  bytes->data[bytes->size] = '\0';
}

void sim_bytes_text(sim_bytes *bytes, const char *text) { sim_bytes_add(bytes, text, strlen(text)); }

void sim_bytes_format(sim_bytes *bytes, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !reserve(bytes, (size_t)length)) {
    bytes->failed = true;
    return;
  }
  va_start(arguments, format);
  vsnprintf(bytes->data + bytes->size, (size_t)length + 1, format, arguments);
  va_end(arguments);
  bytes->size += (size_t)length;
}

/* Length of the valid UTF-8 sequence at `text`; 0: invalid, or a control character of C1. */
static size_t utf8_length(const unsigned char *text, size_t left) {
  unsigned lead = text[0];
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  if (lead == 0xe0 && text[1] < 0xa0) return 0;                                       /* overlong */
  if (lead == 0xed && text[1] > 0x9f) return 0;                                       /* surrogate */
  if ((lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f)) return 0; /* outside Unicode */
  if (lead == 0xc2 && text[1] < 0xa0) return 0;                                       /* C1 control */
  return length;
}

void sim_bytes_json_string(sim_bytes *bytes, const char *text, size_t size) {
  sim_bytes_add(bytes, "\"", 1);
  for (size_t i = 0; i < size;) {
    unsigned char c = (unsigned char)text[i];
    size_t length = utf8_length((const unsigned char *)text + i, size - i);
    if (c == '"' || c == '\\')
      sim_bytes_format(bytes, "\\%c", c);
    else if (c == '\n')
      sim_bytes_text(bytes, "\\n");
    else if (c < 0x20 || c == 0x7f || !length)
      sim_bytes_format(bytes, "\\u%04x", c);
    else
      sim_bytes_add(bytes, text + i, length);
    i += length ? length : 1;
  }
  sim_bytes_add(bytes, "\"", 1);
}

void sim_bytes_free(sim_bytes *bytes) {
  free(bytes->data);
  *bytes = (sim_bytes){0};
}

void sim_text_escape(char *out, size_t capacity, const char *text, size_t size) {
  if (!capacity) return;
  size_t used = 0;
  for (size_t i = 0; i < size;) {
    unsigned char c = (unsigned char)text[i];
    size_t length = utf8_length((const unsigned char *)text + i, size - i);
    char piece[8];
    size_t wide;
    if (length && c >= 0x20 && c != 0x7f) {
      memcpy(piece, text + i, length);
      wide = length;
    } else {
      wide = (size_t)snprintf(piece, sizeof piece, "\\x%02x", c);
      length = 1;
    }
    bool last = i + length >= size;
    if (used + wide + (last ? 0 : 3) >= capacity) {
      size_t dots = capacity - 1 - used < 3 ? capacity - 1 - used : 3;
      memcpy(out + used, "...", dots);
      used += dots;
      break;
    }
    memcpy(out + used, piece, wide);
    used += wide;
    i += length;
  }
  out[used] = '\0';
}
