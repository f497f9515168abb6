/* Command line of a benchmark program. A mistake ends the program, so that it never measures something else. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_LIST_MAX = 8 };
typedef struct bench_list {
  int count;
  long long value[BENCH_LIST_MAX];
} bench_list;

typedef enum bench_kind {
  BENCH_END,
  BENCH_FLAG,   /* bool: given or not */
  BENCH_NUMBER, /* double, at least `least` */
  BENCH_LIST,   /* bench_list of integers, 1 or more; may be given several times */
  BENCH_INDEX   /* int: index of one of the words, which end with NULL */
} bench_kind;

typedef struct bench_argument {
  const char *name; /* such as "--n" */
  bench_kind kind;
  void *to;
  double least;
  const char *const *words;
} bench_argument;

static inline bool bench_take(const bench_argument *a, const char *value) {
  if (a->kind == BENCH_INDEX) {
    int k = 0;
    while (a->words[k] && strcmp(value, a->words[k])) k++;
    *(int *)a->to = k;
    return a->words[k] != NULL;
  }
  char *end;
  const double number = strtod(value, &end);
  if (end == value || *end || !(number >= a->least && number <= 1e15)) return false;
  if (a->kind == BENCH_NUMBER) {
    *(double *)a->to = number;
    return true;
  }
  bench_list *list = (bench_list *)a->to;
  if (list->count == BENCH_LIST_MAX) return false;
  list->value[list->count++] = (long long)number;
  return true;
}

/* known ends with a BENCH_END. Where an argument is wrong it prints a line with the known ones and exits with 64. */
static inline void bench_arguments(int count, char **arguments, const bench_argument *known) {
  for (int k = 1; k < count; k++) {
    const bench_argument *a = known;
    while (a->kind && strcmp(a->name, arguments[k])) a++;
    const bool valued = a->kind && a->kind != BENCH_FLAG && k + 1 < count;
    if (a->kind == BENCH_FLAG)
      *(bool *)a->to = true;
    else if (valued && bench_take(a, arguments[k + 1]))
      k++;
    else {
      fprintf(stderr, "%s: %s%s%s? known:", arguments[0], arguments[k], valued ? " " : "",
              valued ? arguments[k + 1] : "");
      for (a = known; a->kind; a++) {
        fprintf(stderr, " %s%s", a->name, a->kind == BENCH_NUMBER || a->kind == BENCH_LIST ? " NUMBER" : "");
        for (int w = 0; a->kind == BENCH_INDEX && a->words[w]; w++) fprintf(stderr, "%c%s", w ? '|' : ' ', a->words[w]);
      }
      fprintf(stderr, "\n");
      exit(64);
    }
  }
}

#endif
