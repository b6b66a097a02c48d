"""TLS and passwords on the agent's ports."""
import base64
import shutil
import socket
import ssl
import subprocess
import warnings

from .control import free_port, get, status
from .world import World, check, exchange, run

# The bcrypt hash of `CANARYPASSWORD`, with cost 5, so that wrong passwords are cheap to try.
PASSWORD, HASH = "CANARYPASSWORD", "$2b$05$abcdefghijklmnopqrstuuHDaNTMMBfPYPv8yd0YP2mYB.3XZvPhq"


def issue(world, name, authority=None):
    """Makes NAME.pem and NAME.key, signed by themselves or by an authority."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-days", "2", "-keyout", world.path(name + ".key"),
               "-out", world.path(name + ".pem")]
    if authority:
        command += ["-CA", world.path(authority + ".pem"), "-CAkey", world.path(authority + ".key"), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    world.path(name + ".key").chmod(0o600)


def shake(world, port, version=None, certificate=None, ciphers=None, data=None):
    """A handshake and a request; returns the answer, or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(world.path("ca.pem"))
        if version:
            context.minimum_version = context.maximum_version = version
        if version or ciphers:
            context.set_ciphers(ciphers or "ALL:@SECLEVEL=0")
    if certificate:
        context.load_cert_chain(world.path(certificate + ".pem"), world.path(certificate + ".key"))
    with socket.create_connection(("127.0.0.1", port), 10) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        connection.sendall((data or get("/-/healthy")).encode())
        received = b""
        while piece := connection.recv(65536):
            received += piece
        return received.decode("latin-1")


def refused(action):
    try:
        answer = action()
    except (ssl.SSLError, ConnectionError):
        return
    check(not answer, f"it was answered: {answer[:60]!r}")


def ports(category):
    line = next((line for line in run("config", "reference").stdout.splitlines() if "web_config_file" in line), "")
    if not line or "not supported" in line:
        return category.note("not supported by this build")
    if not shutil.which("openssl"):
        return category.note("openssl is missing")
    with World() as world:
        for name, authority in (("ca", None), ("other", None), ("server", "ca"), ("client", "ca"), ("stranger", "other")):
            issue(world, name, authority)
        world.write("web.yml", "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n")
        port = free_port()
        world.write("users.yml", f"tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\nbasic_auth_users:\n  canary: {HASH}\n")
        world.config(world.server().url, http={"listen": "127.0.0.1:0", "web_config_file": "web.yml"},
                     control={"socket": str(world.path("s.sock")), "listen": f"127.0.0.1:{port}", "web_config_file": "users.yml"})
        agent = world.agent()
        admin = agent.ports()[0]
        with category.attempt("the right client certificate"):
            check(status(shake(world, admin, certificate="client")) == 200, "not answered")
        with category.attempt("no client certificate"):
            refused(lambda: shake(world, admin))
        with category.attempt("a client certificate of another authority"):
            refused(lambda: shake(world, admin, certificate="stranger"))
        with category.attempt("a client certificate signed by itself"):
            refused(lambda: shake(world, admin, certificate="other"))
        for number, client in ((admin, "client"), (port, None)):
            for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
                with category.attempt(f"{version.name} on port {'http' if client else 'control'}"):
                    refused(lambda: shake(world, number, version, client))
            for ciphers in ("AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "NULL", "aNULL", "DES-CBC3-SHA", "RC4", "AES256-GCM-SHA384"):
                with category.attempt(f"{ciphers} on port {'http' if client else 'control'}"):
                    try:
                        refused(lambda: shake(world, number, ssl.TLSVersion.TLSv1_2, client, ciphers + ":@SECLEVEL=0"))
                    except ssl.SSLError:
                        pass
            for name, data in (("plain HTTP", get("/-/healthy").encode()), ("random bytes", bytes(range(256)) * 20), ("half a hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
                               ("a hello of 1 MB", b"\x16\x03\x01\xff\xff" + b"x" * 1_000_000), ("SSLv2", b"\x80\x2e\x01\x00\x02")):
                with category.attempt(f"{name} on port {'http' if client else 'control'}"):
                    answer = exchange(("127.0.0.1", number), data, 5, True)
                    check(not answer.startswith("HTTP/1.1 200"), "it was answered")
                    check(status(shake(world, number, certificate=client)) in (200, 401), "the next client is not answered")

        def login(word, user="canary"):
            value = base64.b64encode(f"{user}:{word}".encode("latin-1")).decode()
            return shake(world, port, data=get("/api/v1/status", f"Authorization: Basic {value}\r\n"))

        with category.attempt("the right password"):
            check(status(login(PASSWORD)) == 200, "refused")
        for name, value in (("none", ""), ("Bearer", f"Bearer {PASSWORD}"), ("no base64", "Basic ???"), ("no colon", "Basic Y2FuYXJ5"), ("another user", "Basic " + base64.b64encode(f"root:{PASSWORD}".encode()).decode()),
                            ("Digest", "Digest username=canary"), ("the hash", "Basic " + base64.b64encode(f"canary:{HASH}".encode()).decode())):
            with category.attempt(f"Authorization: {name}"):
                check(status(shake(world, port, data=get("/api/v1/status", f"Authorization: {value}\r\n" if value else ""))) in (400, 401, 429), "answered")
        codes = []
        for number, word in enumerate([PASSWORD[:-1], PASSWORD + "x", PASSWORD.lower(), PASSWORD + "\0", "", "x" * 5000] + ["guess"] * 14):
            with category.attempt(f"wrong password {number}"):
                codes.append(status(login(word)))
                check(codes[-1] in (400, 401, 429), f"status {codes[-1]}")
        with category.attempt("wrong passwords are slowed"):
            check(codes[-1] == 429, f"the 20th wrong password gets {codes[-1]}")
        with category.attempt("the right password beside the wrong ones"):
            check(status(login(PASSWORD)) == 200, "refused")
        with category.attempt("the right password under another name"):
            check(status(login(PASSWORD, "root")) == 429, "answered")
        with category.attempt("the log has no password and no hash"):
            check("CANARYPASS" not in agent.text() and HASH not in agent.text(), "it has")
        with category.attempt("config print and status have neither"):
            text = run("config", "print", "--config", world.path("starwatch.yaml")).stdout + run("status", "--config", world.path("starwatch.yaml")).stdout
            check(HASH not in text and "CANARYPASS" not in text, "they have")
        check(agent.is_alive(), "the agent ended")


ATTACKS = [("TLS and passwords on the ports", ports)]
