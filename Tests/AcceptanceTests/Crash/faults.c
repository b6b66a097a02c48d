// Preloaded into the agent by the crash tests. It ends the process at its N-th write, as kill -9 would, or lets writes
// fail or hang as a bad disk does. What it counts: writes, truncations and syncs of files, what is sent on sockets, and
// files that are removed or renamed. What one thread sends another to wake it does not count: it depends on which of them
// is waiting.
//
//   STARWATCH_FAULT_KILL_AT=N    dies before the N-th of them
//   STARWATCH_FAULT_TORN=1       a file's N-th write is half done first
//   STARWATCH_FAULT_TALLY=FILE   appends the name of each call and its file to FILE
//   STARWATCH_FAULT_DISK=FILE    while FILE is there, what it says happens to every change of a file of the agent's:
//                                an errno, or "hang": the call waits until FILE is gone. With " sync" behind it,
//                                only what makes sure that a write stays, or takes it back
//   STARWATCH_FAULT_LOOKUPS=FILE while FILE is there, a lookup of a name below hanging.test leaves a line in it and takes
//                                until it is gone; then the name is this machine's
//
// Closing what is not open ends the process with a sentence: a moment later the number may be somebody else's file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static long kill_at;
static int torn;
static int tally = -1;
static const char *disk;
static const char *lookups;

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("STARWATCH_FAULT_KILL_AT");
    kill_at = number ? atol(number) : 0;
    torn = getenv("STARWATCH_FAULT_TORN") != NULL;
    const char *name = getenv("STARWATCH_FAULT_TALLY");
    if (name) tally = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    disk = getenv("STARWATCH_FAULT_DISK");
    lookups = getenv("STARWATCH_FAULT_LOOKUPS");
    // Not for the programs that the agent starts.
    unsetenv("LD_PRELOAD");
}

static mode_t kind(int descriptor) {
    struct stat info;
    // Standard output and error, the tally, and whatever is no file and no socket do not count.
    if (descriptor <= 2 || descriptor == tally || fstat(descriptor, &info) != 0) return 0;
    return info.st_mode & S_IFMT;
}

// Whether a socket connects two threads of this process: neither end of a pair has a name.
static int is_pair(int descriptor) {
    struct sockaddr_un own, peer;
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    return getsockname(descriptor, (struct sockaddr *)&own, &own_size) == 0 && own.sun_family == AF_UNIX
        && getpeername(descriptor, (struct sockaddr *)&peer, &peer_size) == 0
        && own_size == sizeof(sa_family_t) && peer_size == sizeof(sa_family_t);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) syscall(SYS_pause);
}

// Counts a call; whether it is the one to die at.
static int is_last(const char *call, int descriptor) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (tally >= 0) {
        char path[64], file[512] = "", line[640];
        if (descriptor >= 0) {
            snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
            ssize_t length = readlink(path, file, sizeof file - 1);
            file[length > 0 ? length : 0] = 0;
        }
        const char *base = strrchr(file, '/');
        int length = snprintf(line, sizeof line, "%s %s\n", call, base ? base + 1 : file);
        syscall(SYS_write, tally, line, (size_t)length);
    }
    return kill_at > 0 && number == kill_at;
}

static void wait_a_moment(void) {
    struct timespec moment = {0, 10000000};
    nanosleep(&moment, NULL);
}

// What a bad disk does: 0 for nothing, else an errno.
static int disk_fault(int is_write) {
    if (!disk) return 0;
    for (;;) {
        char text[16] = "";
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, disk, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) return 0;
        syscall(SYS_read, descriptor, text, sizeof text - 1);
        syscall(SYS_close, descriptor);
        if (is_write && strstr(text, " sync")) return 0;
        if (strncmp(text, "hang", 4) != 0) return atoi(text);
        wait_a_moment();
    }
}

static int refuses(const char *call, int descriptor) {
    if (kind(descriptor) != S_IFREG) return 0;
    if (is_last(call, descriptor)) die();
    int error = disk_fault(0);
    if (error) errno = error;
    return error != 0;
}

static ssize_t put(const char *call, int descriptor, const void *bytes, size_t count, off64_t offset, int at) {
    mode_t what = kind(descriptor);
    if (what == S_IFREG || what == S_IFSOCK) {
        if (is_last(call, descriptor)) {
            if (torn && what == S_IFREG && count > 1) {
                if (at) syscall(SYS_pwrite64, descriptor, bytes, count / 2, offset);
                else syscall(SYS_write, descriptor, bytes, count / 2);
            }
            die();
        }
        int error = what == S_IFREG ? disk_fault(1) : 0;
        if (error) {
            errno = error;
            return -1;
        }
    }
    return at ? syscall(SYS_pwrite64, descriptor, bytes, count, offset) : syscall(SYS_write, descriptor, bytes, count);
}

ssize_t write(int descriptor, const void *bytes, size_t count) { return put("write", descriptor, bytes, count, 0, 0); }

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return put("pwrite", descriptor, bytes, count, offset, 1);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return put("pwrite", descriptor, bytes, count, offset, 1);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    if (kind(descriptor) == S_IFSOCK && !is_pair(descriptor) && is_last("send", descriptor)) die();
    return syscall(SYS_sendto, descriptor, bytes, count, flags, NULL, 0);
}

int ftruncate64(int descriptor, off64_t length) {
    return refuses("ftruncate", descriptor) ? -1 : (int)syscall(SYS_ftruncate, descriptor, length);
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

int fsync(int descriptor) { return refuses("fsync", descriptor) ? -1 : (int)syscall(SYS_fsync, descriptor); }

int fdatasync(int descriptor) {
    return refuses("fdatasync", descriptor) ? -1 : (int)syscall(SYS_fdatasync, descriptor);
}

int unlink(const char *path) {
    if (is_last("unlink", -1)) die();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to) {
    if (is_last("rename", -1)) die();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int close(int descriptor) {
    int result = (int)syscall(SYS_close, descriptor);
    if (result == 0 || errno != EBADF || descriptor < 0) return result;
    static const char sentence[] = "a descriptor was closed that is not open\n";
    syscall(SYS_write, 2, sentence, sizeof sentence - 1);
    abort();
}

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    const char *hanging = lookups && name ? strstr(name, ".hanging.test") : NULL;
    if (hanging) {
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, lookups, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (descriptor >= 0) {
            syscall(SYS_write, descriptor, "lookup\n", 7);
            syscall(SYS_close, descriptor);
            while (syscall(SYS_faccessat, AT_FDCWD, lookups, F_OK) == 0) wait_a_moment();
        }
        name = "localhost";
    }
    return ((lookup)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, found);
}
