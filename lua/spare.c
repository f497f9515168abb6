/* Processes for scripts that are made before they are asked for, for a program that loads one scenario after another. A
 * small process of its own forks them: it is forked before the program has threads, a device and much memory, which
 * take long to copy. A spare process is confined and has its Lua state and the sandbox; it waits for a script. */
#include "lua/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Message of the small process: with a descriptor about a spare process, without one about its end. */
typedef struct message {
  pid_t pid;
  int exit; /* status from waitpid */
} message;

static struct {
  int control; /* socket to the small process; -1: there is none */
  bool due;    /* it has not told the end of the last spare process yet */
  int fd;      /* socket to a process that waits for another script; -1: none */
  pid_t pid;   /* of that process */
  scenario_options options;
} spare = {.control = -1, .fd = -1};

/* ---- messages ---- */

/* Sends a message with a descriptor, or with none where fd < 0. */
static bool send_message(int socket, const message *m, int fd) {
  union {
    char bytes[CMSG_SPACE(sizeof fd)];
    struct cmsghdr aligned;
  } room = {0};
  struct iovec part = {(void *)(uintptr_t)m, sizeof *m};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    header.msg_control = room.bytes;
    header.msg_controllen = sizeof room.bytes;
    struct cmsghdr *with = CMSG_FIRSTHDR(&header);
    with->cmsg_level = SOL_SOCKET;
    with->cmsg_type = SCM_RIGHTS;
    with->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(with), &fd, sizeof fd);
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL) == (ssize_t)sizeof *m;
}

/* Waits for a message; *fd is -1 where it has no descriptor. */
static bool receive_message(int socket, message *m, int *fd) {
  union {
    char bytes[CMSG_SPACE(sizeof *fd)];
    struct cmsghdr aligned;
  } room = {0};
  struct iovec part = {m, sizeof *m};
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  ssize_t got;
  *fd = -1;
  do got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const struct cmsghdr *with = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
  if (with != NULL && with->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(with), sizeof *fd);
  return got == (ssize_t)sizeof *m;
}

/* ---- the small process ---- */

/* Forks a spare process; *fd: the program's end of its socket. */
static bool fork_spare(message *m, int *fd) {
  int ends[2];
  *m = (message){0};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  m->pid = fork();
  if (m->pid == 0) scenario_child_wait(&spare.options, ends[1]);
  close(ends[1]);
  *fd = ends[0];
  return m->pid > 0;
}

/* Gives the program one spare process after another, each when the last one has ended, and forks the next one
 * meanwhile. It ends with the program, or where anything fails. */
noreturn static void fork_spares(int control) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGTSTP};
  message now, next;
  int fd = -1, next_fd = -1;
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int none = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3 && none >= 0; i++) (void)dup2(none, i); /* a reader of the output sees its end */
  for (bool good = fork_spare(&now, &fd); good; now = next, fd = next_fd) {
    good = send_message(control, &now, fd);
    close(fd);
    good = good && fork_spare(&next, &next_fd);
    while (good && waitpid(now.pid, &now.exit, 0) < 0) good = errno == EINTR;
    good = good && send_message(control, &now, -1);
  }
  _exit(1);
}

void scenario_prepare(const scenario_options *options) {
  int ends[2];
  if (spare.control >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  spare.options = *options;
  spare.options.sets = NULL;
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    fork_spares(ends[1]);
  }
  close(ends[1]);
  if (pid > 0)
    spare.control = ends[0];
  else
    close(ends[0]);
}

/* ---- the program ---- */

void scenario_spare_keep(int fd, pid_t pid) {
  spare.fd = fd;
  spare.pid = pid;
}

/* Ends the process that waits for another script. */
static void drop_kept(void) {
  if (spare.fd >= 0) close(spare.fd);
  spare.fd = -1;
}

/* Does without spare processes from now on. */
static void give_up(void) {
  close(spare.control);
  spare.control = -1;
}

bool scenario_spare_end(int *exit) {
  message m;
  int fd = -1;
  drop_kept();
  if (!spare.due) return false;
  spare.due = false;
  const bool told = receive_message(spare.control, &m, &fd) && fd < 0;
  if (fd >= 0) close(fd);
  if (!told) give_up();
  *exit = told ? m.exit : 0;
  return told;
}

static bool send_all(int fd, const void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t sent = send(fd, (const char *)data + done, size - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) done += (size_t)sent;
  }
  return true;
}

/* Takes the process that waits for another script, else the next spare process; returns its socket or -1. */
static int take(pid_t *pid) {
  message m;
  int fd = spare.fd, ended;
  *pid = spare.pid;
  spare.fd = -1;
  if (fd >= 0) return fd;
  (void)scenario_spare_end(&ended);
  if (spare.control < 0) return -1;
  if (!receive_message(spare.control, &m, &fd) || fd < 0) {
    give_up();
    return -1;
  }
  spare.due = true;
  *pid = m.pid;
  return fd;
}

int scenario_spare_take(const char *text, size_t size, const scenario_options *options, pid_t *pid) {
  size_t length = 0;
  sim_bytes request = {0};
  if (spare.control < 0 || options->seconds != spare.options.seconds || options->memory != spare.options.memory)
    return -1;
  for (const char *const *set = options->sets; set != NULL && *set != NULL; set++) length += strlen(*set) + 1;
  sim_bytes_add(&request, (const uint64_t[]){size, length}, 2 * sizeof(uint64_t));
  sim_bytes_add(&request, text, size);
  for (const char *const *set = options->sets; set != NULL && *set != NULL; set++)
    sim_bytes_add(&request, *set, strlen(*set) + 1);
  int fd = request.failed ? -1 : take(pid);
  if (fd >= 0 && !send_all(fd, request.data, request.size)) {
    close(fd); /* it has ended, or will */
    fd = -1;
  }
  sim_bytes_free(&request);
  return fd;
}
