"""A mail server on 127.0.0.1 that keeps what it gets (aiosmtpd), and a reader of what it kept (Python's email).

usage: mailbox.py serve FOLDER READY [--port N] [--tls CERTIFICATE KEY] [--starttls CERTIFICATE KEY]
                  [--login USER PASSWORD] [--limit BYTES] [--crash N]
       mailbox.py read FOLDER

serve writes its port into READY. A receiver named by a word of ANSWERS, as in later+me@example.org, gets
that answer, which repeats the address. With --crash, every
Nth message is kept and its connection closed without a reply, as when a server ends at the wrong moment. read prints one line
of JSON for each kept message.
"""
import argparse
import asyncio
import email
import email.policy
import json
import os
import re
import ssl
import sys
import time

ANSWERS = {
    "later": "451 4.3.0 <{}> try again",
    "unknown": "550 5.1.1 <{}> no such user",
    "limited": "421 4.7.0 too many mails to {}",
}


class Mailbox:
    def __init__(self, folder, crash):
        self.folder = folder
        self.crash = crash
        self.count = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        answer = ANSWERS.get(address.split("@")[0].split("+")[0])
        if answer is None:
            envelope.rcpt_tos.append(address)
            return "250 OK"
        return answer.format(address)

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        id = re.search(rb"^Message-ID: <([^>]*)>", envelope.content, re.MULTILINE).group(1).decode()
        name = os.path.join(self.folder, f"{time.time_ns()}-{self.count} {id}")
        with open(name + ".new", "wb") as file:
            file.write(json.dumps([envelope.mail_from, envelope.rcpt_tos]).encode() + b"\n" + envelope.content)
        os.rename(name + ".new", name + ".mail")
        if self.crash and self.count % self.crash == 0:
            server.transport.abort()
        return "250 2.0.0 kept"


def context(files):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*files)
    return tls


async def serve(arguments):
    from aiosmtpd.smtp import SMTP, AuthResult

    def authenticate(server, session, envelope, mechanism, data):
        said = [data.login.decode(), data.password.decode()]
        return AuthResult(success=said == arguments.login, handled=False)

    mailbox = Mailbox(arguments.folder, arguments.crash)
    options = {"hostname": "mailbox.test", "data_size_limit": arguments.limit, "enable_SMTPUTF8": False}
    if arguments.login:
        options |= {"authenticator": authenticate, "auth_required": True, "auth_require_tls": False}
    if arguments.starttls:
        options |= {"tls_context": context(arguments.starttls), "require_starttls": True}
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(mailbox, loop=asyncio.get_running_loop(), **options),
        "127.0.0.1",
        arguments.port,
        ssl=context(arguments.tls) if arguments.tls else None,
    )
    with open(arguments.ready + ".new", "w") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(arguments.ready + ".new", arguments.ready)
    await server.serve_forever()


def read(folder):
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".mail"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            sender, receivers = json.loads(file.readline())
            raw = file.read()
        mail = email.message_from_bytes(raw, policy=email.policy.default)
        parts = {part.get_content_subtype(): part for part in mail.walk() if not part.is_multipart()}

        def people(field):
            return [[person.display_name, person.addr_spec] for person in mail[field].addresses]

        print(json.dumps({
            "sender": sender,
            "receivers": receivers,
            "fields": [field for field in mail.keys()],
            "id": mail["message-id"],
            "references": (mail["references"] or "").split(),
            "subject": mail["subject"],
            "from": people("from"),
            "to": people("to"),
            "date": mail["date"].datetime.isoformat(),
            "language": mail["content-language"],
            "type": mail.get_content_type(),
            "text": parts["plain"].get_content().replace("\r\n", "\n"),
            "html": parts["html"].get_content().replace("\r\n", "\n"),
            "defects": [str(defect) for part in mail.walk() for defect in part.defects]
            + [str(defect) for field in mail.values() for defect in field.defects],
            "longest": max(len(line) for line in raw.split(b"\r\n")),
            "isPlain": raw.isascii() and b"\0" not in raw and b"\n" not in raw.replace(b"\r\n", b""),
        }))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    server = commands.add_parser("serve")
    server.add_argument("folder")
    server.add_argument("ready")
    server.add_argument("--port", type=int, default=0)
    server.add_argument("--tls", nargs=2)
    server.add_argument("--starttls", nargs=2)
    server.add_argument("--login", nargs=2)
    server.add_argument("--limit", type=int, default=33554432)
    server.add_argument("--crash", type=int, default=0)
    commands.add_parser("read").add_argument("folder")
    arguments = parser.parse_args()
    if arguments.command == "read":
        return read(arguments.folder)
    sys.stderr.write("mailbox: listening\n")
    asyncio.run(serve(arguments))


if __name__ == "__main__":
    main()
