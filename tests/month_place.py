"""The place of a simulated month: a clock that can be moved, PostgreSQL servers, and a proxy before them."""

import mmap
import os
import pathlib
import socket
import struct
import subprocess
import threading
import time

PGBIN = os.environ.get("PGBIN", "/usr/lib/postgresql/15/bin")
AS_POSTGRES = dict(user="postgres", group="postgres", extra_groups=[]) if os.geteuid() == 0 else {}

# Adds to the clock what the file holds: nanoseconds of real time, and of time since the start. Waits end soon, so that
# a program sees that its time has come.
LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long long *moved;
static long long by(int which) {
    if (!moved) {
        int file = open(getenv("MONTH_CLOCK"), O_RDONLY);
        moved = mmap(0, 16, PROT_READ, MAP_SHARED, file, 0);
        close(file);
    }
    return moved[which];
}
static void add(struct timespec *t, long long ns) {
    ns += t->tv_nsec;
    t->tv_sec += ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    if (t->tv_nsec < 0) { t->tv_sec--; t->tv_nsec += 1000000000; }
}
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, t);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) add(t, by(0));
    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME) add(t, by(1));
    return result;
}
int gettimeofday(struct timeval *t, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec, t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return t ? *t = now.tv_sec : now.tv_sec;
}
int epoll_wait(int fd, struct epoll_event *events, int most, int timeout) {
    static int (*real)(int, struct epoll_event *, int, int);
    if (!real) real = dlsym(RTLD_NEXT, "epoll_wait");
    return real(fd, events, most, timeout > 10 ? 10 : timeout);
}
long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) real = dlsym(RTLD_NEXT, "syscall");
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    struct timespec until;
    if (number == SYS_futex && a[3] && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && !(a[1] & FUTEX_CLOCK_REALTIME)) {
        until = *(struct timespec *)a[3];
        add(&until, -by(1));
        a[3] = (long)&until;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


class Clock:
    """The simulated clock of fogpost, which this script moves."""

    def __init__(self, folder):
        self.file, library = f"{folder}/clock", f"{folder}/clock.so"
        pathlib.Path(self.file).write_bytes(bytes(16))
        self.map = mmap.mmap(os.open(self.file, os.O_RDWR), 16)
        pathlib.Path(f"{folder}/clock.c").write_text(LIBRARY)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, f"{folder}/clock.c", "-ldl"], check=True)
        self.environment = dict(os.environ, LD_PRELOAD=library, MONTH_CLOCK=self.file)
        self.moved = [0, 0]
        self.began = self.now()

    def now(self):
        return time.time() + self.moved[0] / 1e9

    def day(self):
        return (self.now() - self.began) / 86400

    def move(self, seconds, waits=5.2):
        """Lets this time pass, and ends what waits for up to `waits` seconds: bit by bit, so that no limit of a second or
        more passes while somebody works."""
        self.moved[0] += int(seconds * 1e9)
        while waits > 0:
            self.moved[1] += int(0.65e9)
            self.map[:] = struct.pack("=qq", *self.moved)
            time.sleep(0.025)
            waits -= 0.65


class Proxy:
    """Forwards connections to a port, until it is told another one."""

    def __init__(self, target):
        self.target, self.open = target, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            here = self.listener.accept()[0]
            try:
                there = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                here.close()
                continue
            self.open += [here, there]
            for one, other in ((here, there), (there, here)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    @staticmethod
    def copy(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def switch(self, target):
        self.target = target
        for end in self.open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open = []


class Server:
    """A PostgreSQL server in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def run(self, program, *arguments):
        command = [f"{PGBIN}/{program}", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", **AS_POSTGRES)

    def start(self):
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder, "fsync": "off",
                   "port": self.port, "max_connections": 60}
        flags = [flag for key, value in options.items() for flag in ("-c", f"{key}={value}")]
        log = open(f"{self.folder}.log", "ab")
        command = [f"{PGBIN}/postgres", "-D", self.folder, *flags]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **AS_POSTGRES)
        while subprocess.run([f"{PGBIN}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            time.sleep(0.1)

    def at(self):
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", "fogpost"]


class Session:
    """A session of psql, which is opened again if it breaks."""

    def __init__(self, server, database="club"):
        self.command = [f"{PGBIN}/psql", *server.at(), "-d", database, "-AtqX", "-F", "\t"]
        self.process = None

    def ask(self, sql):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(f"{sql};\n\\echo ===\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != "===\n":
            if not line:
                raise ConnectionError(sql)
            lines.append(line.rstrip("\n").split("\t"))
        return lines

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
