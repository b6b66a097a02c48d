"""Files, folders and sockets that other users own or can change."""
import os
import socket
import subprocess
import sys

from .world import POLL, STARWATCH, STRANGER, USER, World, check, eventually, run

IS_ROOT = os.geteuid() == 0
LISTEN = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
print("ready", flush=True)
while True:
    client, _ = listener.accept()
    client.settimeout(2)
    try:
        data = client.recv(65536)
    except OSError:
        data = b""
    print(f"received {len(data)}", flush=True)
    client.close()
"""


def refused(result, *words):
    text = result.stdout + result.stderr
    check(result.returncode in (1, 2), f"exit {result.returncode}: {text[:200]}")
    check(any(word in text for word in words or ("users", "user;", "link")), f"another refusal: {text[:200]}")
    check("CANARY" not in text, f"the refusal shows a value: {text[:200]}")


def configuration(category):
    for mode in (0o620, 0o602, 0o622, 0o660, 0o666, 0o777):
        for command in ("check", "run", "status"):
            with category.attempt(f"{command} with a configuration of mode {mode:o}"), World() as world:
                config = world.config("http://127.0.0.1:1")
                config.chmod(mode)
                refused(run(command, "--config", config))
    for mode in (0o777, 0o775, 0o707):
        with category.attempt(f"a configuration in a folder of mode {mode:o}"), World() as world:
            config = world.config("http://127.0.0.1:1")
            world.folder.chmod(mode)
            refused(run("check", "--config", config))
    with category.attempt("a link in a folder of others to a good configuration"), World() as world:
        config = world.config("http://127.0.0.1:1")
        world.path("open").mkdir(mode=0o777)
        world.path("open").chmod(0o777)
        world.path("open/link.yaml").symlink_to(config)
        refused(run("check", "--config", world.path("open/link.yaml")))
    if not IS_ROOT:
        return category.note("owners not tried: not root")
    for command in ("check", "run", "config print", "status", "doctor"):
        with category.attempt(f"{command} with a configuration of another user"), World() as world:
            config = world.config("http://127.0.0.1:1")
            os.chown(config, STRANGER, 0)
            refused(run(*command.split(), "--config", config))
    with category.attempt("a link to a configuration of another user"), World() as world:
        config = world.config("http://127.0.0.1:1")
        os.chown(config, STRANGER, 0)
        world.path("link.yaml").symlink_to(config)
        refused(run("check", "--config", world.path("link.yaml")))
    with category.attempt("a configuration in a folder of another user"), World() as world:
        config = world.config("http://127.0.0.1:1")
        os.chown(world.folder, STRANGER, 0)
        refused(run("check", "--config", config))
    with category.attempt("./starwatch.yaml of another user is not read"), World() as world:
        world.write("starwatch.yaml", "no_such_setting: CANARY\n", 0o644)
        os.chown(world.path("starwatch.yaml"), STRANGER, 0)
        result = run("check", cwd=world.folder)
        check("no_such_setting" not in result.stdout + result.stderr, "it was read")


def secrets(category):
    def settings(path):
        sink = {"name": "a", "kind": "webhook", "url": "http://127.0.0.1:1/", "secret_file": path}
        ntfy = {"name": "a", "kind": "ntfy", "url": "http://127.0.0.1:1", "topic": "t", "token_file": path}
        return {
            "auth.secret_file": {"auth": {"kind": "shared_secret", "secret_file": path}},
            "auth.key_file": {"auth": {"kind": "did_key", "key_file": path}},
            "auth.tokens_file": {"auth": {"kind": "token_pool", "tokens_file": path}},
            "webhook secret_file": {"delivery": {"sinks": [sink]}},
            "ntfy token_file": {"delivery": {"sinks": [ntfy]}},
            "control.token_file": {"control": {"listen": "127.0.0.1:1", "token_file": path}},
            "security.master_key_file": {"security": {"master_key_file": path}},
        }
    for name in settings(""):
        for mode in (0o640, 0o604, 0o644, 0o620, 0o602, 0o666):
            with category.attempt(f"{name} of mode {mode:o}"), World() as world:
                secret = world.write("a.secret", "CANARYSECRET0123456789abcdefghij", mode)
                refused(run("check", "--config", world.config("http://127.0.0.1:1", **settings(str(secret))[name])))
        if not IS_ROOT:
            category.note("owners not tried: not root")
            continue
        for linked in (False, True):
            with category.attempt(f"{name} of another user{', by a link' if linked else ''}"), World() as world:
                # Another user's file cannot be read anyway, unless that user leaves it open: a trap.
                secret = world.write("a.secret", "CANARYSECRET0123456789abcdefghij", 0o604)
                os.chown(secret, STRANGER, 0)
                if linked:
                    world.path("link").symlink_to(secret)
                    secret = world.path("link")
                config = world.config("http://127.0.0.1:1", **settings(str(secret))[name])
                config.chmod(0o644)
                world.folder.chmod(0o755)
                refused(run("check", "--config", config, user=USER))
    if not IS_ROOT:
        return
    for mode in (0o444, 0o644, 0o660):
        for where in ("on the machine's disk", "there, seen through a mount that is read-only"):
            with category.attempt(f"a secret of root with mode {mode:o} {where}"), World() as world:
                secret = world.write("a.secret", "CANARYSECRET0123456789abcdefghij", mode)
                config = world.config("http://127.0.0.1:1", auth={"kind": "shared_secret", "secret_file": str(secret)})
                config.chmod(0o644)
                world.folder.chmod(0o755)
                mount = f"mount --bind {world.folder} {world.folder} && mount -o remount,bind,ro {world.folder} && " if "mount" in where else ""
                command = f"{mount}exec setpriv --reuid={USER} --regid={USER} --clear-groups {STARWATCH} check --config {config}"
                refused(subprocess.run(["unshare", "--mount", "sh", "-c", command], capture_output=True, text=True, timeout=60))


def sockets(category):
    for mode in (0o777, 0o775, 0o707, 0o722):
        with category.attempt(f"the socket in a folder of mode {mode:o}"), World() as world:
            folder = world.path("s")
            folder.mkdir()
            folder.chmod(mode)
            config = world.config("http://127.0.0.1:1", control={"socket": str(folder / "s.sock")})
            refused(run("run", "--config", config))
            check(not list(folder.iterdir()), "a socket was made")
    for mode in (0o604, 0o640, 0o666):
        with category.attempt(f"a database of mode {mode:o}"), World() as world:
            world.write("starwatch.db", "", mode)
            result = run("run", "--config", world.config("http://127.0.0.1:1"))
            check(result.returncode in (1, 2), f"exit {result.returncode}")
            check(os.path.getsize(world.path("starwatch.db")) == 0, "it was written")
    with category.attempt("something else in the socket's place stays"), World() as world:
        world.write("s.sock", "mine")
        check(run("run", "--config", world.config("http://127.0.0.1:1")).returncode in (1, 2), "no refusal")
        check(world.path("s.sock").read_text() == "mine", "it was replaced")
    with category.attempt("modes of what the agent makes"), World() as world:
        server = world.server()
        world.config(server.url, delivery={"sinks": [{"name": "f", "kind": "file", "path": str(world.path("out"))}]})
        former = os.umask(0)
        try:
            agent = world.agent()
        finally:
            os.umask(former)
        check(run("sinks", "test", "f", "--config", world.path("starwatch.yaml")).returncode == 0, "sinks test")
        for file in world.folder.iterdir():
            if file.name != agent.log.name and file.name != "starwatch.yaml":
                check(file.lstat().st_mode & 0o077 == 0, f"{file.name} has mode {file.lstat().st_mode & 0o777:o}")
    if not IS_ROOT:
        return category.note("other users' not tried: not root")
    with category.attempt("the socket in a folder of another user"), World() as world:
        folder = world.path("s")
        folder.mkdir(mode=0o755)
        os.chown(folder, STRANGER, 0)
        config = world.config("http://127.0.0.1:1", control={"socket": str(folder / "s.sock")})
        refused(run("run", "--config", config))
    with World() as world:
        folder = world.path("shared")
        folder.mkdir()
        folder.chmod(0o1777)
        world.folder.chmod(0o755)
        path = str(folder / "s.sock")
        listener = subprocess.Popen(["setpriv", f"--reuid={STRANGER}", "--clear-groups", sys.executable, "-c", LISTEN, path],
                                    stdout=subprocess.PIPE, text=True)
        world.ending.callback(lambda: (listener.kill(), listener.wait(), listener.stdout.close()))
        check(listener.stdout.readline() == "ready\n", "the listener does not start")
        did = "did:ethr:0x00000000000000000000000000000000000000aa"
        commands = [["status"], ["stars", "list"], ["stars", "set", "CANARY"], ["outbox", "list"], ["identity", "show"],
                    ["identity", "set", did], ["identity", "erase", did], ["poll", POLL], ["logs"], ["keys", "list"],
                    ["keys", "rotate", "--data"], ["notifications", "list"], ["server", "clear-wait"], ["explain", "CANARY"],
                    ["outbox", "retry", "--all"], ["sinks", "test", "a"]]
        for user in (None, USER):
            for command in commands:
                with category.attempt(f"{' '.join(command)} with another user's program on the socket"):
                    result = run(*command, "--socket", path, user=user)
                    check(result.returncode != 0, "it succeeded")
                    check("Another user's program listens" in result.stderr, f"it says: {result.stderr[:200]}")
                    check(listener.stdout.readline() == "received 0\n", "bytes were sent")


def sinks(category):
    def test(world, path, user=None):
        sink = {"name": "f", "kind": "file", "path": str(path)}
        config = world.config("http://127.0.0.1:1", delivery={"sinks": [sink]})
        if user is not None:
            config.chmod(0o644)
        return run("sinks", "test", "f", "--config", config, user=user)

    def untouched(name, prepare, user=None):
        with category.attempt(name), World() as world:
            path, target, before = prepare(world)
            result = test(world, path, user)
            check(result.returncode != 0, f"it was written: {result.stdout}")
            check(target is None or target.read_bytes() == before, "the file changed")

    def link(world):
        target = world.write("target", "mine\n")
        world.path("out").symlink_to(target)
        return world.path("out"), target, b"mine\n"

    def dangling(world):
        world.path("out").symlink_to(world.path("nothing"))
        return world.path("out"), None, b""

    def other(mode, owner=None):
        def prepare(world):
            target = world.write("out", "mine\n", mode)
            if owner is not None:
                os.chown(target, owner, 0)
            return target, target, b"mine\n"
        return prepare

    def fifo(world):
        os.mkfifo(world.path("out"), 0o600)
        return world.path("out"), None, b""

    def place(world):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(world.path("out")))
        listener.listen()
        world.ending.callback(listener.close)
        return world.path("out"), None, b""

    untouched("a link", link)
    untouched("a link to nothing", dangling)
    untouched("a pipe", fifo)
    untouched("a socket", place)
    untouched("a device", lambda world: ("/dev/full", None, b""))
    for mode in (0o620, 0o602, 0o660, 0o666, 0o622):
        untouched(f"a file of mode {mode:o}", other(mode))
    if IS_ROOT:
        for mode in (0o600, 0o644, 0o666):
            untouched(f"a file of another user, mode {mode:o}", other(mode, STRANGER))
    else:
        category.note("owners not tried: not root")
    for line in ("export PATH=/bin", "ssh-ed25519 AAAA", '{"other":1', '{"idle":"ntf_1"', "\x00\x01\x02\xff"):
        with category.attempt(f"the unfinished line {line!r} stays"), World() as world:
            former = b"first\n" + line.encode("latin-1")
            path = world.write("out", former)
            check(test(world, path).returncode == 0, "not written")
            check(path.read_bytes().startswith(former + b"\n"), "the line was cut or joined")
    with category.attempt("an own unfinished line is cut off"), World() as world:
        path = world.write("out", "")
        check(test(world, path).returncode == 0, "not written")
        whole = path.read_bytes()
        path.write_bytes(whole + whole[:40])
        check(test(world, path).returncode == 0, "not written again")
        lines = path.read_bytes().splitlines()
        # A test is one line for each form of a notification.
        check(len(lines) == 2 * len(whole.splitlines()) and b"\n".join(lines).startswith(whole), "the torn line is still there")


ATTACKS = [("Configuration that others can change", configuration), ("Secret files that others can read or own", secrets),
           ("Control socket, its folder, and foreign programs on it", sockets), ("Targets of file sinks", sinks)]
