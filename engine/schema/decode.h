/* Shared by the files of the decoder: paths of values, faults (faults.c), and one decoding function per type. */
#ifndef SIM_ENGINE_DECODE_H
#define SIM_ENGINE_DECODE_H

#include "engine/schema/schema.h"

typedef struct sim_decoder {
  const sim_units *units;
  sim_faults *faults;
  const sim_schema *root;
  bool no_memory;
} sim_decoder;

/* Path of a value in the scenario; it becomes text only for a fault. */
typedef struct sim_place {
  const struct sim_place *parent; /* NULL: the root */
  const char *key;                /* NULL: an item of a list */
  size_t index;                   /* from 1 */
  int line;
} sim_place;

enum { SIM_PLACE_MAX = 200 }; /* longest path in messages, in bytes */

sim_place sim_place_below(const sim_place *parent, const char *key, size_t index, int line);
/* Writes a path such as "bodies[2].mass" and returns its length, at most capacity - 1. */
size_t sim_place_path(const sim_place *at, char *out, size_t capacity);

void sim_decode_fault(sim_decoder *d, const sim_place *at, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the fault "expected ..., got ...". */
void sim_decode_expected(sim_decoder *d, const sim_place *at, const sim_value *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the text of a string that contains no zero byte, else NULL. */
const char *sim_decode_text(const sim_value *value);
bool sim_decode_in_range(const sim_field *field, double number);

/* decode_scalar.c */
void sim_decode_real(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, double *out);
void sim_decode_reals(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, double *out);
void sim_decode_unit(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, double *out);
void sim_decode_int(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, void *out);
void sim_decode_choice(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, int *out);
void sim_decode_string(sim_decoder *d, const sim_place *at, const sim_value *value, char **out);
void sim_decode_cadence(sim_decoder *d, const sim_place *at, const sim_value *value, sim_cadence *out);

/* function.c */
void sim_decode_function(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                         sim_expr **out);
void sim_decode_function_map(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                             sim_function_map *out);
/* Returns a value that decodes to the same function; NULL: out of memory. */
sim_value *sim_encode_function(const sim_signature *signature, const sim_expr *expr);
sim_value *sim_encode_function_map(const sim_signature *signature, const sim_function_map *map);

#endif
