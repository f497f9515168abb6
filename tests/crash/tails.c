/* Whether `compare` (path: argument 1) compares tails of a table of different lengths. Writes two files into the
 * folder, each with a tail of two columns, and checks the exit status with and without --near. */
#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes rows first .. first + rows - 1 of a table {k, 0.1 k + off}. */
static void write_tail(const char *file, int first, int rows, double off) {
  double values[8][2];
  for (int k = 0; k < rows; k++) values[k][0] = first + k, values[k][1] = 0.1 * (first + k) + off;
  hid_t root = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), links = H5Pcreate(H5P_LINK_CREATE);
  hid_t space = H5Screate_simple(2, (hsize_t[]){(hsize_t)rows, 2}, NULL);
  H5Pset_create_intermediate_group(links, 1);
  hid_t tail = H5Dcreate2(root, "tables/health/tail", H5T_NATIVE_DOUBLE, space, links, H5P_DEFAULT, H5P_DEFAULT);
  if (root < 0 || tail < 0 ||
      (rows > 0 && H5Dwrite(tail, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
    exit(3);
  H5Dclose(tail);
  H5Sclose(space);
  H5Pclose(links);
  H5Fclose(root);
}

static int status_of(const char *compare, const char *units) {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    if (units)
      execl(compare, compare, "--near", units, "tail_a.h5", "tail_b.h5", (char *)NULL);
    else
      execl(compare, compare, "tail_a.h5", "tail_b.h5", (char *)NULL);
    _exit(127);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int count, char **arguments) {
  /* The second tail's first row and length, and its offset in units of --near (1: 2^-52 of the largest value 7); then
   * the statuses without and with --near. */
  static const struct {
    int first, rows;
    double off;
    int exact, near;
  } cases[] = {{0, 8, 0, 0, 0},     {4, 4, 0, 0, 0},    {8, 0, 0, 0, 0}, {0, 8, 1e-14, 1, 0},
               {5, 3, 1e-14, 1, 0}, {5, 3, 1e-3, 1, 1}, {4, 3, 0, 1, 1}};
  int wrong = 0;
  if (count < 2) return 2;
  write_tail("tail_a.h5", 0, 8, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_tail("tail_b.h5", cases[i].first, cases[i].rows, cases[i].off);
    const int exact = status_of(arguments[1], NULL), near = status_of(arguments[1], "10");
    if (exact == cases[i].exact && near == cases[i].near) continue;
    printf("case %zu: %d and %d, expected %d and %d\n", i, exact, near, cases[i].exact, cases[i].near);
    wrong = 1;
  }
  remove("tail_a.h5");
  remove("tail_b.h5");
  return wrong;
}
