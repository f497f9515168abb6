/* The line of a lock file that names its holder: "host n1, process 17, Slurm job 5, restart 0, since ..., machine ...,
 * tick ...". */
#ifndef SIM_IO_HOLDER_H
#define SIM_IO_HOLDER_H

#include <stdbool.h>

enum { IO_HOLDER_TEXT = 512 };

typedef enum io_holder_verdict { IO_HOLDER_ENDED, IO_HOLDER_DEAD, IO_HOLDER_IN_USE } io_holder_verdict;

/* Reads the line of the lock file; empty where it cannot be read. */
void io_holder_read(int fd, char text[IO_HOLDER_TEXT]);
/* Copies the part of the line that messages show. */
void io_holder_shown(const char *holder, char out[IO_HOLDER_TEXT]);
/* Makes the line of this process; returns its length. */
int io_holder_line(bool ended, char text[IO_HOLDER_TEXT]);
/* Replaces the content of the lock file by `text`, or by the line of this process; false: not written. */
bool io_holder_write_line(int fd, const char *text);
bool io_holder_write(int fd, bool ended);
/* Age of the file in seconds, by the clock of its file system, which may differ from ours. */
double io_holder_age(int root, int fd);
/* Judges the holder of a lock file that flock could lock (`flocked`), or where flock has no effect. why: the reason for
 * IO_HOLDER_DEAD. */
io_holder_verdict io_holder_judge(int root, int fd, bool flocked, const char *holder, char why[IO_HOLDER_TEXT]);
/* Whether the holder has given back the lock, or is a process of this machine that has ended or is about to: what still
 * holds the file then lasts no longer than the kernel takes to free that process. */
bool io_holder_is_ending(const char *holder);
/* Whether the holder is this process of this machine. */
bool io_holder_is(const char *holder, long process);

#endif
