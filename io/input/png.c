#include "io/input/png.h"

#include "io/sys.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct image {
  int fd;
  const char *path;
  int64_t at;   /* position in the file */
  int error;    /* errno of reading the file */
  char why[96]; /* libpng's error */
  png_structp png;
  png_infop info;
  png_bytep rows; /* [height][bytes] */
  png_bytepp row; /* [height] */
} image;

static void on_read(png_structp png, png_bytep out, size_t size) {
  image *self = png_get_io_ptr(png);
  size_t got;
  self->error = io_sys_read(self->fd, out, size, self->at, &got);
  if (self->error || got < size) png_error(png, "it ends too early");
  self->at += (int64_t)size;
}

static void on_error(png_structp png, png_const_charp text) {
  image *self = png_get_error_ptr(png);
  snprintf(self->why, sizeof self->why, "%s", text);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

static sim_status bad(const image *self) {
  if (self->error) return sim_fail(SIM_ERR_IO, "%s: %s", self->path, strerror(self->error));
  return sim_fail(SIM_ERR_SCENARIO, "%s: not a PNG image that can be read: %s", self->path, self->why);
}

/* Reads the header; requests samples of 8 or 16 bits, and colours in place of palettes. */
static sim_status read_header(image *self) {
  if (setjmp(png_jmpbuf(self->png))) return bad(self);
  png_read_info(self->png, self->info);
  if (png_get_color_type(self->png, self->info) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(self->png);
  if (png_get_bit_depth(self->png, self->info) < 8) png_set_expand_gray_1_2_4_to_8(self->png);
  (void)png_set_interlace_handling(self->png);
  return SIM_OK;
}

/* Reads the rows, converted as requested by png_set_... . */
static sim_status read_rows(image *self) {
  if (setjmp(png_jmpbuf(self->png))) return bad(self);
  png_read_image(self->png, self->row);
  png_read_end(self->png, NULL);
  return SIM_OK;
}

static double sample(const image *self, int64_t y, int64_t i) {
  const png_bytep row = self->row[y];
  if (png_get_bit_depth(self->png, self->info) == 16) return (row[2 * i] << 8 | row[2 * i + 1]) / 65535.0;
  return row[i] / 255.0;
}

static double pixel(const image *self, int64_t x, int64_t y, int channel, int samples) {
  const int64_t at = x * samples;
  if (channel == SIM_ALPHA) return sample(self, y, at + samples - 1);
  if (samples < 3) return sample(self, y, at);
  if (channel != SIM_NO_CHANNEL && channel != SIM_GREY) return sample(self, y, at + channel - SIM_RED);
  return 0.2126 * sample(self, y, at) + 0.7152 * sample(self, y, at + 1) + 0.0722 * sample(self, y, at + 2);
}

/* Whether a pixel is not opaque; samples: of a pixel, 2 or 4 with alpha. */
static bool is_transparent(const image *self, int64_t width, int64_t height, int samples) {
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width && samples % 2 == 0; x++)
      if (sample(self, y, x * samples + samples - 1) < 1) return true;
  return false;
}

static sim_status transparent_fails(const image *self) {
  return sim_fail(
      SIM_ERR_SCENARIO,
      "%s: some of the image is transparent: give channel = \"alpha\" for how opaque it is, or \"grey\" or a "
      "colour for that alone",
      self->path);
}

static sim_status update(image *self) {
  if (setjmp(png_jmpbuf(self->png))) return bad(self);
  png_read_update_info(self->png, self->info);
  return SIM_OK;
}

static sim_status read_image(image *self, int channel, int64_t nx, int64_t ny, double *values) {
  SIM_TRY(read_header(self));
  const int64_t width = png_get_image_width(self->png, self->info),
                height = png_get_image_height(self->png, self->info);
  if (width != nx || height != ny)
    return sim_fail(SIM_ERR_SCENARIO, "%s: expected an image of %lld x %lld pixels, one for each cell, got %lld x %lld",
                    self->path, (long long)nx, (long long)ny, (long long)width, (long long)height);
  const int colours = png_get_color_type(self->png, self->info);
  if (channel == SIM_ALPHA && !(colours & PNG_COLOR_MASK_ALPHA))
    return sim_fail(SIM_ERR_SCENARIO, "%s: the image has no alpha channel", self->path);
  if (channel >= SIM_RED && channel <= SIM_BLUE && !(colours & PNG_COLOR_MASK_COLOR))
    return sim_fail(SIM_ERR_SCENARIO, "%s: the image is grey, and has no channel of a colour", self->path);
  if (channel == SIM_NO_CHANNEL && !(colours & PNG_COLOR_MASK_PALETTE) &&
      png_get_valid(self->png, self->info, PNG_INFO_tRNS))
    return transparent_fails(self);
  if (!values) return SIM_OK;
  SIM_TRY(update(self));
  const size_t bytes = png_get_rowbytes(self->png, self->info);
  const int samples = png_get_channels(self->png, self->info);
  self->rows = calloc((size_t)height, bytes);
  self->row = calloc((size_t)height, sizeof *self->row);
  if (!self->rows || !self->row) return sim_no_memory("the image %s", self->path);
  for (int64_t y = 0; y < height; y++) self->row[y] = self->rows + (size_t)y * bytes;
  SIM_TRY(read_rows(self));
  if (channel == SIM_NO_CHANNEL && is_transparent(self, width, height, samples)) return transparent_fails(self);
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++) values[(height - 1 - y) * width + x] = pixel(self, x, y, channel, samples);
  return SIM_OK;
}

sim_status io_png_read(int fd, const char *path, int channel, int64_t nx, int64_t ny, double *values) {
  image self = {.fd = fd, .path = path};
  self.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &self, on_error, on_warning);
  if (self.png) self.info = png_create_info_struct(self.png);
  sim_status status = SIM_ERR_NO_MEMORY;
  if (self.info) {
    png_set_read_fn(self.png, &self, on_read);
    status = read_image(&self, channel, nx, ny, values);
  } else {
    sim_no_memory("the image %s", path);
  }
  png_destroy_read_struct(&self.png, &self.info, NULL);
  free(self.rows);
  free(self.row);
  return status;
}
