"""The stored data: what a thief of the database reads, and what a forger of it reaches."""
import base64
import os
import re
import sqlite3

from .files import IS_ROOT
from .world import AUTHOR, DID, PLAN, STRANGER, USER, World, check, eventually, item, page, run

NAME = "Canary Garden of Alice"
WORDS = [DID, DID.lower(), AUTHOR, "aFeDaDa0000000000000", "aFeBaBa0000000000000", PLAN, PLAN.rsplit("/", 1)[1], NAME, "Canary Garden", "CANARYDESCRIPTION"]
COLUMNS = [("sealed_accounts", "did"), ("settings", "starredPlanHandleIds"), ("notification_outbox", "plan_id"), ("notification_outbox", "name"), ("notification_outbox", "changed_fields"),
           ("notifications", "title"), ("notifications", "body"), ("notifications", "payload"), ("plan_snapshots", "sealed_plan_id"), ("plan_snapshots", "fields"), ("feed", "payload")]


def filled(world, encrypted=True):
    """An agent that has delivered two notifications with canaries; returns it with its server."""
    if encrypted:
        made = run("keys", "init", "--file", world.path("master.key"))
        check(made.returncode == 0, made.stderr)
    server = world.server(page([item(1, NAME, description="CANARYDESCRIPTION")]))
    sections = {"security": {"master_key_file": str(world.path("master.key"))}} if encrypted else {}
    world.config(server.url, delivery={"sinks": [{"name": "feed", "kind": "feed"}], "group_interval": "1s"}, **sections)
    agent = world.agent()
    agent.poll()
    server.default = page([item(1, NAME, description="CANARYDESCRIPTION"), item(2, NAME + " 2", description="CANARYDESCRIPTION 2")])
    agent.poll()
    check(eventually(lambda: agent.control("GET", "/api/v1/notifications")[2].count("Canary Garden") >= 1, 15), "no notification")
    return agent, server


def stored(world):
    """The files of the database, as a thief would copy them."""
    return {file.name: file.read_bytes() for file in world.folder.iterdir() if file.name.startswith("starwatch.db")}


def without_black_box(files):
    """The files without the black box, which records each start, also one that fails."""
    return {name: data for name, data in files.items() if not name.endswith(".blackbox")}


def search(category, place, files):
    for name, data in files.items():
        for word in WORDS:
            with category.attempt(f"{word[:16]} in {name}, {place}"):
                for spelling in (word.encode(), word.encode("utf-16-le"), base64.b64encode(word.encode())[:-4], word.encode().hex().encode()):
                    check(spelling not in data, "it is there")


def theft(category):
    with World() as world:
        agent, _ = filled(world)
        search(category, "while the agent runs", stored(world))
        agent.stop(9)
        search(category, "after kill -9", stored(world))
        config = world.path("starwatch.yaml")
        with category.attempt("the test can fail: the agent shows the name"):
            agent = world.agent()
            check(NAME in agent.control("GET", "/api/v1/notifications")[2], "it does not")
            agent.stop()
        search(category, "after a clean stop", stored(world))
        with category.attempt("keys list shows no secret"):
            key = world.path("master.key").read_text().strip()
            agent = world.agent()
            for command in ("keys list", "keys list --json", "keys verify", "status", "config print"):
                result = run(*command.split(), "--config", config)
                check(key not in result.stdout + result.stderr, f"{command} shows it")
            check(key not in agent.text(), "the log has it")
            agent.stop()
    with World() as world:
        agent, _ = filled(world, encrypted=False)
        agent.stop()
        with category.attempt("a clear database has the canaries"):
            check(any(NAME.encode() in data for data in stored(world).values()), "it has not")
        check(run("keys", "init", "--file", world.path("master.key")).returncode == 0, "keys init")
        config = world.path("starwatch.yaml")
        config.write_text(config.read_text() + f"security: {{master_key_file: {world.path('master.key')}}}\n")
        with category.attempt("encrypt-database"):
            result = run("keys", "encrypt-database", "--config", config)
            check(result.returncode == 0, result.stderr)
        search(category, "after encrypt-database", stored(world))
    with World() as world:
        agent, _ = filled(world, encrypted=False)
        with category.attempt("identity erase"):
            agent.control("PUT", "/api/v1/identity", '{"did": null}', {"Content-Type": "application/json"})
            result = run("identity", "erase", DID, "--config", world.path("starwatch.yaml"))
            check(result.returncode == 0, result.stderr)
        search(category, "after identity erase", stored(world))


def wrong_keys(category):
    def starts(world):
        before = without_black_box(stored(world))
        result = run("run", "--config", world.path("starwatch.yaml"), seconds=20)
        check(result.returncode == 2, f"exit {result.returncode}: {result.stderr[:200]}")
        after = stored(world)
        check(without_black_box(after) == before, "the database was written")
        check(not any(word.encode() in data for data in after.values() for word in WORDS), "the black box shows a value")
        return result.stdout + result.stderr

    with World() as world:
        agent, _ = filled(world)
        agent.stop()
        file, config = world.path("master.key"), world.path("starwatch.yaml")
        right, text = file.read_text(), config.read_text()
        raw = base64.b64decode(right.split()[-1] + "==")
        wrong = {"another key": base64.b64encode(os.urandom(32)).decode(), "one bit changed": base64.b64encode(bytes([raw[0] ^ 1]) + raw[1:]).decode(), "16 bytes": base64.b64encode(raw[:16]).decode(),
                 "31 bytes": base64.b64encode(raw[:31]).decode(), "33 bytes": base64.b64encode(raw + b"x").decode(), "nothing": "", "blanks": "  \n", "no base64": "CANARY !!", "raw bytes": None,
                 "two keys": right + right, "zeros": base64.b64encode(bytes(32)).decode(), "1 MB": "A" * 1_000_000}
        for name, value in wrong.items():
            with category.attempt(f"a master key of {name}"):
                file.write_bytes(raw if value is None else value.encode())
                words = starts(world)
                check("CANARY" not in words and right.strip() not in words and (not value or len(value) < 20 or value not in words), "the key is shown")
        file.write_text(right)
        for mode in (0o640, 0o604, 0o620, 0o602, 0o644, 0o666):
            with category.attempt(f"a master key of mode {mode:o}"):
                file.chmod(mode)
                starts(world)
        file.chmod(0o600)
        with category.attempt("no master key"):
            config.write_text(re.sub(r"security: .*\n", "", text))
            starts(world)
        for name, program in (("nothing", ["/bin/true"]), ("an error", ["/bin/false"]), ("another key", ["/bin/sh", "-c", "head -c 32 /dev/urandom | base64"]), ("1 GB", ["/bin/sh", "-c", "head -c 1000000000 /dev/zero"]),
                              ("no program", ["/nothing"])):
            with category.attempt(f"a master key command that prints {name}"):
                config.write_text(re.sub(r"security: .*\n", f"security: {{master_key_command: {program!r}}}\n", text))
                starts(world)
        config.write_text(text)
        with category.attempt("the right key still opens it"):
            agent = world.agent()
            check(NAME in agent.control("GET", "/api/v1/notifications")[2], "it does not")
            agent.stop()
    if IS_ROOT:
        with category.attempt("a master key of another user"), World() as world:
            world.folder.chmod(0o755)
            run("keys", "init", "--file", world.path("master.key"))
            os.chown(world.path("master.key"), STRANGER, 0)
            world.path("master.key").chmod(0o604)
            world.config("http://127.0.0.1:1", security={"master_key_file": str(world.path("master.key"))}).chmod(0o644)
            check(run("check", "--config", world.path("starwatch.yaml"), user=USER).returncode == 2, "it is accepted")
    else:
        category.note("owners not tried: not root")


def forged(category):
    """Sealed values that are changed, moved or taken from another time. The agent must neither use nor show them, nor crash."""
    def change(value, how):
        data = bytearray(value if isinstance(value, bytes) else value.encode())
        if how == "a bit":
            data[len(data) // 2] ^= 1
        elif how == "the first byte":
            data[0] ^= 1
        elif how == "the last byte":
            data[-1] ^= 1
        elif how == "cut off":
            data = data[: len(data) // 2]
        elif how == "longer":
            data += b"AAAA"
        elif how == "clear text":
            data = bytearray(b'{"title":"CANARYFORGED"}')
        elif how == "empty":
            data = bytearray()
        return bytes(data) if isinstance(value, bytes) else data.decode("latin-1")

    with World() as world:
        agent, _ = filled(world)
        agent.stop()
        files = stored(world)
        config, database = world.path("starwatch.yaml"), world.path("starwatch.db")

        def values(connection, table, column):
            found = connection.execute(f"SELECT * FROM {table}")
            index = [name for name, *_ in found.description].index(column)
            return {(row[0], row[index]) for row in found}

        replaced = set()

        def tried(agent, table, column, forged):
            check(eventually(lambda: not agent.is_alive() or agent.listens(), 20), "it neither starts nor ends")
            if not agent.is_alive():
                return
            result = run("keys", "verify", "--config", config)
            # The agent can have replaced the value meanwhile: it seals the DID of its configuration and what it fetches.
            connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
            left = forged & values(connection, table, column)
            connection.close()
            check(result.returncode != 0 or not left, f"keys verify finds nothing: {result.stdout[:100]}")
            if not left:
                replaced.add(f"{table}.{column}")
            for path in ("/api/v1/outbox", "/api/v1/notifications", "/api/v1/stars", "/api/v1/identity"):
                check("CANARYFORGED" not in agent.control("GET", path)[2], f"{path} shows a forged value")
            agent.poll()
            agent.survives()

        def attack(name, table, column, statement):
            with category.attempt(name):
                for file in list(world.folder.iterdir()):
                    if file.name.startswith("starwatch.db"):
                        file.unlink()
                for file, data in files.items():
                    world.write(file, data)
                connection = sqlite3.connect(database)
                connection.execute("PRAGMA ignore_check_constraints = ON")
                try:
                    former = values(connection, table, column)
                    changed = statement(connection)
                    connection.commit()
                    forged = values(connection, table, column) - former
                finally:
                    connection.close()
                if not changed:
                    return
                agent = world.agent(ready=False)
                try:
                    tried(agent, table, column, forged)
                finally:
                    # The next attempt needs the files.
                    agent.stop()
                check(agent.process.returncode in (0, 1, 2), f"it ended with {agent.process.returncode}: {agent.text()[-200:]}")
                check("CANARY" not in agent.text(), "the log has a value")

        def update(connection, table, column, value, former):
            return connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (value, former)).rowcount

        for table, column in COLUMNS:
            rows = sqlite3.connect(f"file:{database}?mode=ro", uri=True).execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()
            if not rows:
                category.note(f"{table}.{column} is empty")
                continue
            for how in ("a bit", "the first byte", "the last byte", "cut off", "longer", "clear text", "empty"):
                attack(f"{table}.{column}: {how}", table, column, lambda connection: update(connection, table, column, change(rows[0][0], how), rows[0][0]))
            if len(rows) > 1:
                attack(f"{table}.{column}: from another row", table, column, lambda connection: update(connection, table, column, rows[1][0], rows[0][0]))
        pairs = [(("notifications", "title"), ("notifications", "body")), (("notification_outbox", "plan_id"), ("notification_outbox", "name")), (("notifications", "payload"), ("feed", "payload"))]
        for (table, column), (source, other) in pairs:
            def move(connection):
                value = connection.execute(f"SELECT {other} FROM {source} WHERE {other} IS NOT NULL").fetchone()
                return value and connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", value).rowcount
            attack(f"{table}.{column}: from {source}.{other}", table, column, move)
        if replaced:
            category.note("replaced by the agent: " + ", ".join(sorted(replaced)))


ATTACKS = [("Theft of an encrypted database", theft), ("Wrong master keys", wrong_keys), ("Sealed values changed or moved", forged)]
