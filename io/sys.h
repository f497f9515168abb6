/* System calls that change files, in one place, so that a test can make any of them fail. */
#ifndef SIM_IO_SYS_H
#define SIM_IO_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Each returns 0 or an errno. Opened descriptors are closed on exec and never follow a symbolic link. */
int io_sys_create(int folder, const char *name, int *fd); /* a new file for reading and writing */
int io_sys_write(int fd, const void *data, size_t size, int64_t offset);
/* Writes a list of buffers; changes the entries of the list. */
int io_sys_writev(int fd, struct iovec *vectors, int count, int64_t offset);
int io_sys_truncate(int fd, int64_t size);
int io_sys_sync(int fd);
/* Starts to write cached data of a file, without waiting; size 0: up to the end. Only a hint: it never fails. */
void io_sys_start(int fd, int64_t from, int64_t size);
/* Opens the file of `fd` again, for writes that pass by the page cache: offset, size and address of each must be
 * multiples of the disk's sector. -1: not possible, or not known to be fast on this file system (ext4 and XFS are). */
int io_sys_open_direct(int fd);
/* Reserves a range of the file on the disk, and makes the file long enough. ENOSPC; 0 also where the file system cannot
 * reserve. */
int io_sys_reserve(int fd, int64_t from, int64_t size);
int io_sys_close(int fd); /* closes even if it returns an error */
int io_sys_rename(int folder, const char *from, const char *to);
/* Reads until `size` bytes or the end of the file; *got: number of bytes read. Tests cannot make it fail. */
int io_sys_read(int fd, void *data, size_t size, int64_t offset, size_t *got);

/* For tests: makes call number `nth` from now on (1 is the next) fail with `error`; with `onwards` all later ones too.
 * nth 0: no failures. A failing write writes half of its bytes first. */
void io_sys_fail(int64_t nth, bool onwards, int error);
/* Whether the call chosen by io_sys_fail was reached. */
bool io_sys_failed(void);

#endif
