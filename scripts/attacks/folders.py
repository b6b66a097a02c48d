"""Folders above the configuration and above programs, and links on the way, that other users own or can change."""
import os
import subprocess

from .files import IS_ROOT, refused
from .world import STRANGER, World, check, run

OPEN = (0o777, 0o775, 0o707)
SERVER = "http://127.0.0.1:1"
# The places of a file below the world's folder, and the folder that is open to others.
DEPTHS = [("a/b/c", "a/b/c"), ("a/b/c", "a/b"), ("a/b/c", "a"), ("a/b/c", ".")]


def folders(world, path):
    """Makes folders that nobody else can change. The temporary folder above them is a sticky one."""
    world.folder.chmod(0o755)
    for depth in range(1, path.count("/") + 2):
        folder = world.path("/".join(path.split("/")[:depth]))
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    return world.path(path)


def linked(world, target):
    """Ways to a file through one link: of the file, of its folder, a chain, and one that leaves and returns."""
    folders(world, "open")
    folders(world, "safe")
    ways = {"a link to the file": world.path("open/file"), "a link to its folder": world.path("open/folder") / target.name,
            "a chain of links": world.path("safe/first"), "a relative link": world.path("open/relative")}
    world.path("open/file").symlink_to(target)
    world.path("open/folder").symlink_to(target.parent)
    world.path("open/middle").symlink_to(target)
    world.path("safe/first").symlink_to("../open/middle")
    world.path("open/relative").symlink_to(os.path.relpath(target, world.path("open")))
    return ways


def as_stranger(world, *command):
    result = subprocess.run(["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *map(str, command)], capture_output=True)
    return result.returncode == 0


def configuration(category):
    commands = ("check", "run", "status", "doctor", "config print")

    def place(world):
        return world.config(SERVER).rename(folders(world, "a/b/c") / "starwatch.yaml")

    for path, opened in DEPTHS:
        for mode in OPEN:
            for command in commands:
                with category.attempt(f"{command} below {opened} of mode {mode:o}"), World() as world:
                    config = place(world)
                    world.path(opened).chmod(mode)
                    refused(run(*command.split(), "--config", config))
    for name in ("a link to the file", "a link to its folder", "a chain of links", "a relative link"):
        for command in commands:
            with category.attempt(f"{command} through {name} in a folder of others"), World() as world:
                way = linked(world, place(world))[name]
                world.path("open").chmod(0o777)
                refused(run(*command.split(), "--config", way))
    for mode in OPEN:
        with category.attempt(f"init into a folder of mode {mode:o}"), World() as world:
            folder = folders(world, "a/b")
            world.path("a").chmod(mode)
            refused(initialize(folder), "Other users could replace")
            check(not list(folder.iterdir()), "a file was written")
    if not IS_ROOT:
        return category.note("owners not tried: not root")
    for owned in ("a/b/c", "a/b", "a", "."):
        for command in commands:
            with category.attempt(f"{command} below {owned} of another user"), World() as world:
                config = place(world)
                os.chown(world.path(owned), STRANGER, 0)
                refused(run(*command.split(), "--config", config))
    for command in (*commands, "init"):
        with category.attempt(f"{command} through a link that another user replaced"), World() as world:
            config = place(world)
            folders(world, "open").chmod(0o1777)
            folders(world, "evil")
            os.chown(world.path("evil"), STRANGER, 0)
            world.write("evil/starwatch.yaml", "no_such_setting: CANARY\n", 0o644)
            link = world.path("open/link")
            check(as_stranger(world, "ln", "-s", config.parent, link), "the link cannot be made")
            if command == "init":
                refused(initialize(link), "Other users could replace")
                check([file.name for file in config.parent.iterdir()] == [config.name], "a file was written")
            else:
                refused(run(*command.split(), "--config", link / "starwatch.yaml"))
            check(as_stranger(world, "ln", "-sfn", world.path("evil"), link), "the link cannot be replaced")
            if command == "init":
                refused(initialize(link), "Other users could replace")
            else:
                refused(run(*command.split(), "--config", link / "starwatch.yaml"))
    with category.attempt("a link of root in a sticky folder cannot be replaced"), World() as world:
        config = place(world)
        folders(world, "open").chmod(0o1777)
        world.path("open/link").symlink_to(config)
        check(not as_stranger(world, "ln", "-sfn", "/etc/passwd", world.path("open/link")), "it was replaced")
        check(run("check", "--config", world.path("open/link")).returncode == 0, "it is refused")


def initialize(folder):
    return run("init", "--server", SERVER, "--did", "did:ethr:0x" + "a" * 40, "--sink", "log", "--folder", folder, "--untested")


PROGRAM = "#!/bin/sh\necho ran >>{}\nexit 1\n"


def programs(category):
    settings = {
        "auth.argv": lambda argv: {"auth": {"kind": "command", "argv": argv}},
        "security.master_key_command": lambda argv: {"security": {"master_key_command": argv}},
        "argv of a sink": lambda argv: {"delivery": {"sinks": [{"name": "a", "kind": "command", "argv": argv}]}},
    }
    commands = ("check", "run", "doctor", "sinks test a", "poll starred_projects")

    def attack(name, prepare, program=None, environment=None):
        """No command runs the program. `check` and `run` say why."""
        for setting, section in settings.items():
            with category.attempt(f"{setting}: {name}"), World() as world:
                marker = world.path("marker")
                file = folders(world, "a/b/c") / "program"
                world.write("a/b/c/program", PROGRAM.format(marker), 0o755)
                argv = prepare(world, file)
                config = world.config(SERVER, **section([str(program or argv or file)]))
                variables = None if environment is None else {**os.environ, "PATH": f"{file.parent}:{os.environ['PATH']}"}
                for command in commands:
                    result = run(*command.split(), "--config", config, environment=variables)
                    check(not marker.exists(), f"{command} ran it: {(result.stdout + result.stderr)[:300]}")
                    if command in ("check", "run"):
                        refused(result)

    for mode in (0o777, 0o775, 0o757):
        attack(f"a program of mode {mode:o}", lambda world, file: file.chmod(mode))
    for _, opened in DEPTHS:
        for mode in OPEN:
            attack(f"a program below {opened} of mode {mode:o}", lambda world, file: world.path(opened).chmod(mode))
    for name in ("a link to the file", "a link to its folder", "a chain of links", "a relative link"):
        def through(world, file):
            way = linked(world, file)[name]
            world.path("open").chmod(0o777)
            return way
        attack(f"{name} in a folder of others", through)
    attack("found on the way of PATH", lambda world, file: world.path("a/b").chmod(0o777), "program", True)
    if not IS_ROOT:
        return category.note("owners not tried: not root")
    attack("a program of another user", lambda world, file: os.chown(file, STRANGER, 0))
    for owned in ("a/b/c", "a/b", "a"):
        attack(f"a program below {owned} of another user", lambda world, file: os.chown(world.path(owned), STRANGER, 0))

    def replaced(world, file):
        folders(world, "open").chmod(0o1777)
        check(as_stranger(world, "ln", "-s", file, world.path("open/link")), "the link cannot be made")
        return world.path("open/link")
    attack("a link of another user in a sticky folder", replaced)
    with category.attempt("a reload that names a program below a folder of others"), World() as world:
        server = world.server()
        world.config(server.url)
        agent = world.agent()
        marker = world.path("marker")
        file = folders(world, "a/b") / "program"
        world.write("a/b/program", PROGRAM.format(marker), 0o755)
        world.path("a").chmod(0o777)
        config = world.config(server.url, delivery={"sinks": [{"name": "a", "kind": "command", "argv": [str(file)]}]})
        refused(run("reload", "--config", config))
        run("sinks", "test", "a", "--socket", agent.socket)
        check(not marker.exists(), "it ran")
        agent.survives()


ATTACKS = [("Folders and links above the configuration", configuration), ("Folders and links above programs", programs)]
