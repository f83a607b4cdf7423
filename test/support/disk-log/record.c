/*
 * Records what a process does to the files below DISK_LOG_ROOT, in the order in which it happens, to the file DISK_LOG: each
 * write, truncation, change of a directory and flush. A test replays the record up to any point and leaves only what was flushed
 * by then: a power cut. Loaded with LD_PRELOAD. Flushes are recorded and not made. Mappings are not seen; SQLite maps only its
 * -shm file, which it builds again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FD 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
/* Inode of each open file below the root; 0: it is elsewhere. */
static uint64_t tracked[MAX_FD];
/* Path below the root of each open directory. */
static char *directory_of[MAX_FD];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("DISK_LOG_ROOT"), *path = getenv("DISK_LOG");
  if (at == NULL || path == NULL || strlen(at) >= sizeof root) return;
  strcpy(root, at);
  root_length = strlen(root);
  log_fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* Path below the root, without the slash in front; NULL: elsewhere, or a -shm file. */
static const char *inside(const char *path) {
  if (log_fd < 0 || path == NULL || strncmp(path, root, root_length) != 0) return NULL;
  const char *rest = path + root_length;
  if (*rest != '/' && *rest != 0) return NULL;
  while (*rest == '/') rest++;
  size_t length = strlen(rest);
  return length >= 4 && strcmp(rest + length - 4, "-shm") == 0 ? NULL : rest;
}

/* One record: kind, inode, offset, lengths of a path and of data, path, data. One write, so that processes may share a log. */
static void record(char kind, uint64_t inode, uint64_t offset, const char *path, const void *data, size_t length) {
  struct { uint64_t kind, inode, offset, path, data; } head = {kind, inode, offset, path ? strlen(path) : 0, length};
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)data, length}};
  if (syscall(SYS_writev, log_fd, parts, 3) != (long)(sizeof head + head.path + length)) abort();
}

static uint64_t inode_of(int fd) {
  struct stat facts;
  return fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}


static void forget(int fd) {
  if (fd < 0 || fd >= MAX_FD) return;
  tracked[fd] = 0;
  free(directory_of[fd]);
  directory_of[fd] = NULL;
}

/* The inode is compared: a program may close a descriptor by a system call of its own, and its number is given again. */
static int is_tracked(int fd) { return fd >= 0 && fd < MAX_FD && tracked[fd] && tracked[fd] == inode_of(fd); }

static int opened(const char *path, int flags, mode_t mode) {
  const char *rest = inside(path);
  if (rest == NULL) return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat facts;
  int existed = stat(path, &facts) == 0;
  int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode), error = errno;
  if (fd >= 0 && fd < MAX_FD && fstat(fd, &facts) == 0) {
    forget(fd);
    tracked[fd] = facts.st_ino;
    if (S_ISDIR(facts.st_mode)) directory_of[fd] = strdup(rest);
    else if (!existed) record('c', facts.st_ino, 0, rest, NULL, 0);
    else if (flags & O_TRUNC) record('t', facts.st_ino, 0, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define OPEN_WITH_MODE(name, ...)                        \
  mode_t mode = 0;                                       \
  if (flags & (O_CREAT | __O_TMPFILE)) {                 \
    va_list more;                                        \
    va_start(more, flags);                               \
    mode = va_arg(more, mode_t);                         \
    va_end(more);                                        \
  }

int open(const char *path, int flags, ...) { OPEN_WITH_MODE() return opened(path, flags, mode); }
int open64(const char *path, int flags, ...) { OPEN_WITH_MODE() return opened(path, flags, mode); }
int openat(int at, const char *path, int flags, ...) {
  OPEN_WITH_MODE()
  if (inside(path) != NULL) return opened(path, flags, mode);
  return syscall(SYS_openat, at, path, flags, mode);
}

int close(int fd) {
  pthread_mutex_lock(&lock);
  forget(fd);
  int done = syscall(SYS_close, fd), error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

/* Writes at an offset, or where the file stands if it is negative. */
static ssize_t written(int fd, const struct iovec *parts, int count, off_t offset) {
  if (!is_tracked(fd))
    return offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  pthread_mutex_lock(&lock);
  off_t at = offset;
  if (offset < 0) {
    struct stat facts;
    at = fcntl(fd, F_GETFL) & O_APPEND && fstat(fd, &facts) == 0 ? facts.st_size : lseek(fd, 0, SEEK_CUR);
  }
  ssize_t done = offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  int error = errno;
  uint64_t inode = inode_of(fd);
  ssize_t left = done;
  for (int i = 0; i < count && left > 0; i++) {
    size_t length = (size_t)left < parts[i].iov_len ? (size_t)left : parts[i].iov_len;
    record('w', inode, at, NULL, parts[i].iov_base, length);
    at += length;
    left -= length;
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *data, size_t length) {
  if (!is_tracked(fd)) return syscall(SYS_write, fd, data, length);
  struct iovec part = {(void *)data, length};
  return written(fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  struct iovec part = {(void *)data, length};
  return written(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return written(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { return written(fd, parts, count, offset); }

int ftruncate(int fd, off_t size) {
  if (!is_tracked(fd)) return syscall(SYS_ftruncate, fd, size);
  pthread_mutex_lock(&lock);
  int done = syscall(SYS_ftruncate, fd, size), error = errno;
  if (done == 0) record('t', inode_of(fd), size, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

static int flushed(int fd, long call) {
  if (!is_tracked(fd)) return syscall(call, fd);
  pthread_mutex_lock(&lock);
  struct stat facts;
  fstat(fd, &facts);
  if (S_ISDIR(facts.st_mode)) record('D', 0, 0, directory_of[fd] ? directory_of[fd] : "", NULL, 0);
  else record('s', facts.st_ino, facts.st_size, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}
int fsync(int fd) { return flushed(fd, SYS_fsync); }
int fdatasync(int fd) { return flushed(fd, SYS_fdatasync); }

/* A call that changes directories; recorded if it succeeds. `to`: a second path, or NULL. */
#define CHANGE(kind, path, to, call)                                        \
  const char *other = (to), *rest = inside(path), *target = inside(other);  \
  if (rest == NULL && target == NULL) return call;                          \
  pthread_mutex_lock(&lock);                                                \
  int done = call, error = errno;                                           \
  if (done == 0) record(kind, 0, 0, rest ? rest : "", target, target ? strlen(target) : 0); \
  pthread_mutex_unlock(&lock);                                              \
  errno = error;                                                            \
  return done;

int unlink(const char *path) { CHANGE('u', path, (char *)NULL, syscall(SYS_unlink, path)) }
int rmdir(const char *path) { CHANGE('u', path, (char *)NULL, syscall(SYS_rmdir, path)) }
int mkdir(const char *path, mode_t mode) { CHANGE('m', path, (char *)NULL, syscall(SYS_mkdir, path, mode)) }
int rename(const char *path, const char *to) { CHANGE('r', path, to, syscall(SYS_rename, path, to)) }
int unlinkat(int at, const char *path, int flags) {
  char whole[PATH_MAX] = "";
  if (is_tracked(at) && directory_of[at] != NULL && path[0] != '/') {
    if (snprintf(whole, sizeof whole, "%s/%s/%s", root, directory_of[at], path) >= (int)sizeof whole) abort();
    path = whole;
    at = AT_FDCWD;
  }
  CHANGE('u', path, (char *)NULL, syscall(SYS_unlinkat, at, path, flags))
}
int link(const char *path, const char *to) { CHANGE('l', path, to, syscall(SYS_link, path, to)) }

/* Copies within the kernel are not seen: programs then read and write. */
ssize_t sendfile64(int out, int in, off64_t *offset, size_t length) {
  if (!is_tracked(out)) return syscall(SYS_sendfile, out, in, offset, length);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile(int out, int in, off_t *offset, size_t length) { return sendfile64(out, in, offset, length); }
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
  if (!is_tracked(out)) return syscall(SYS_copy_file_range, in, from, out, to, length, flags);
  errno = EXDEV;
  return -1;
}
