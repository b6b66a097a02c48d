"""Processes that outlive the script: a later run finds them again by their number and start time."""
import os
import signal
import subprocess
import time


def start_time(pid):
    """Returns the process's start time in ticks; `None` if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


class Process:
    """A process of the run, which need not be a child of this script."""

    def __init__(self, pid, begun):
        self.pid, self.begun, self.returncode = pid, begun, None

    @classmethod
    def start(cls, arguments, log, **more):
        # In a session of its own, so that Ctrl-C reaches only the script.
        with open(log, "a") as output:
            child = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT, start_new_session=True, **more)
        # Nobody else waits for it.
        child.returncode = 0
        return cls(child.pid, start_time(child.pid))

    def poll(self):
        """Returns the exit status; `None` while it runs. The status of a process of a former script is unknown: 0."""
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
                if ended:
                    self.returncode = os.waitstatus_to_exitcode(status)
            except ChildProcessError:
                if self.begun is None or start_time(self.pid) != self.begun:
                    self.returncode = 0
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def wait(self, seconds=None):
        end = None if seconds is None else time.monotonic() + seconds
        while self.poll() is None:
            if end and time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), seconds)
            time.sleep(0.02)
        return self.returncode

    def stop(self, seconds=40):
        """Ends it with SIGTERM, or with SIGKILL if that takes too long. Returns the exit status."""
        self.send_signal(signal.SIGCONT)
        self.send_signal(signal.SIGTERM)
        try:
            return self.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.wait()

    def saved(self):
        return [self.pid, self.begun]


class Children:
    """The servers of the run: Prometheus and Alertmanager."""

    def __init__(self, saved=()):
        self.all = [Process(*entry) for entry in saved]

    def start(self, arguments, log, **more):
        self.all.append(Process.start(arguments, log, **more))
        return self.all[-1]

    def stop(self):
        for process in reversed(self.all):
            process.stop()

    def saved(self):
        return [process.saved() for process in self.all]
