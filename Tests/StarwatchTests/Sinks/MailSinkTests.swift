import Foundation
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// What a notification is as a mail, and what the replies to it mean.
@Suite struct MailSinkTests {
    private static let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"

    private func sink(
        _ server: RecordedService,
        _ change: (inout SinkOptions) -> Void = { _ in },
        password: String? = nil
    ) throws -> Starwatch.MailSink {
        var options = Self.options(from: "Starwatch <agent@example.org>")
        change(&options)
        return try Starwatch.MailSink(options, password: password.map { .value($0) }, http: server)
    }

    private static func options(from sender: String = "agent@example.org") -> SinkOptions {
        SinkOptions(name: "mail", kind: .email(url: "smtps://mail.test", from: sender, to: ["me@example.org"]))
    }

    /// A notification of changes with these names.
    private func notification(
        _ names: [String?],
        id: String = "ntf_1",
        locale: String = "en",
        plan: (Int) -> String = { "plan-\($0)" },
        fields: [String: FieldChange]? = nil
    ) throws -> OutgoingNotification {
        let tag = try #require(LocaleTag(locale))
        let poll = try #require(PollName("starred_projects"))
        let changes = try names.enumerated().map { index, name in
            Change(
                id: try #require(JWTID("1704067200_abc123_def45\(600 + index)")),
                plan: names.count == 1 ? Self.plan : plan(index),
                name: name,
                isOffer: false
            )
        }
        var context = NotificationContext(messages: MessageCatalogues.builtIn.messages(for: tag))
        if let fields { for change in changes { context.fields[change.id] = FieldChanges(fields) } }
        let message = NotificationMessage(
            id: id,
            runID: "run_1",
            poll: poll,
            kind: .starredProjects,
            changes: changes,
            context: context,
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        return OutgoingNotification(message)
    }

    private func sent(_ notification: OutgoingNotification) async throws -> String {
        let server = RecordedService(reply: "250 2.0.0 kept")
        #expect(await (try sink(server)).deliver(notification) == .ok)
        return server.body.replacing("=\r\n", with: "")
    }

    @Test(arguments: [
        ("250 2.0.0 kept", SinkAnswer.ok, ""), ("251 forwarded", .ok, ""),
        ("451 4.3.0 <me@example.org> later", .unavailable, "The mail server asks to try later (SMTP 451 4.3.0)."),
        ("421 too many", .unavailable, "The mail server asks to try later (SMTP 421)."),
        ("550 5.1.1 <me@example.org> unknown", .rejected, "The mail server refused the mail (SMTP 550 5.1.1)."),
        ("550-5.7.1 me@example.org", .rejected, "The mail server refused the mail (SMTP 550 5.7.1)."),
        ("552 too long", .rejected, "The mail server refused the mail (SMTP 552)."),
        ("554 2.0.0x", .rejected, "The mail server refused the mail (SMTP 554)."),
        (
            "530 5.7.0 log in", .unavailable,
            "The mail server wants a login, or encryption first (SMTP 530); add username and password_file, or ca_file."
        ),
    ])
    func aReplyIsAnAnswerAndItsTextStaysThere(reply: String, answer: SinkAnswer, sentence: String) async throws {
        let result = await (try sink(RecordedService(reply: reply))).deliver(try notification(["Creek"]))
        #expect(result.answer == answer)
        #expect(result.failure?.sentence ?? "" == sentence)
        if answer != .ok {
            let code = Int(reply.prefix(3)) ?? 0
            #expect(result.failure?.reason == FailureReason(reply: code))
            #expect(result.failure?.reason.label == (code < 500 ? .smtp4xx : .smtp5xx))
        }
    }

    @Test(
        arguments: [
            (APIFailure.connect, nil, "The mail server cannot be reached (connection failed).", "connect"),
            (.connect, 554, "The mail server refuses the connection (SMTP 554).", "smtp_554"),
            (.tls, nil, "The mail server cannot be reached (TLS handshake failed).", "tls"),
            (.unencrypted, 250, "The mail server offers no STARTTLS; use smtps://, or another server.", "tls"),
            (
                .login, 535, "The mail server refuses the login (SMTP 535); correct username and password_file.",
                "smtp_535"
            ),
            (.login, 454, "The mail server asks to try later (SMTP 454).", "smtp_454"),
            (.unencrypted, 454, "The mail server asks to try later (SMTP 454).", "smtp_454"),
            (
                .login, 250,
                "The mail server offers no login with a password; leave out username and password_file, or use another.",
                "no_token"
            ),
            (.configuration("Install it."), nil, "Install it.", "invalid_request"),
            (.timeout, nil, "The sink did not answer in time.", "timeout"),
        ] as [(APIFailure, Int?, String, String)]
    )
    func troubleWithTheServerCostsTheMailNoAttempt(
        error: APIFailure,
        status: Int?,
        sentence: String,
        word: String
    )
        async throws
    {
        let result = await (try sink(RecordedService(.failure(error), status: status))).deliver(
            try notification(["Creek"])
        )
        #expect(result.isNoAnswer)
        #expect(result.failure?.sentence == sentence)
        #expect(result.failure?.reason.word == word)
        let reason = try #require(result.failure?.reason)
        #expect(FailureReason(reason.description) == reason)
    }

    /// A refused login says more than its code, such as that it wants a password of the application.
    @Test(
        arguments: [
            (.login, 535, "535 5.7.8 no", "535 5.7.8 no"), (.connect, 554, "554 no service", "554 no service"),
            (.unencrypted, 454, "454 later", "454 later"), (.unencrypted, 250, "250 SIZE 10000", ""),
            (.reset, 250, "250 ok", ""),
        ] as [(APIFailure, Int, String, String)]
    )
    func aRefusalBeforeTheMailIsTold(error: APIFailure, status: Int, reply: String, said: String) async throws {
        let server = RecordedService(.failure(error), status: status, lastReply: reply)
        let result = await (try sink(server)).deliver(try notification(["Creek"]))
        #expect(result.isNoAnswer && result.said == Array(said.utf8))
    }

    @Test(arguments: [
        ("450 later", true), ("452 4.2.2 <me@example.org> full", true), ("450 4.1.1 unverified", true),
        ("450 4.1.8 bad sender", false), ("450 4.7.1 unknown client", false), ("450 4.3.2 no service", false),
        ("451 4.3.2 stopping", false), ("421 4.7.0 limit", false), ("550 5.1.1 unknown", false),
    ])
    func aReplyAboutAMailboxIsNotAboutTheServer(reply: String, isOfReceiver: Bool) async throws {
        let result = await (try sink(RecordedService(reply: reply))).deliver(try notification(["Creek"]))
        #expect(result.isOfReceiver == isOfReceiver)
    }

    @Test func theSecondTryIsTheSameMail() async throws {
        let server = RecordedService(reply: "451 later")
        let sink = try sink(server)
        for _ in 0..<2 { _ = await sink.deliver(try notification(["Creek"])) }
        let mails = server.requests.map(\.body)
        #expect(mails.count == 2 && mails[0] == mails[1])
    }

    /// Otherwise it would be among those of the day before, unseen.
    @Test func aMailThatHoursHeldHasTheDateOfTheirEnd() async throws {
        let server = RecordedService(reply: "250 2.0.0 kept")
        var mail = try notification(["Creek"])
        for time in [Timestamp(seconds: 1_767_225_600 + 86_340), Timestamp(seconds: 0)] {
            mail.dueSince = time
            _ = await (try sink(server)).deliver(mail)
        }
        let dates = server.requests.compactMap { request -> String? in
            let lines = String(decoding: request.body ?? [], as: UTF8.self).split(separator: "\r\n")
            return lines.first { $0.hasPrefix("Date:") }.map(String.init)
        }
        #expect(dates == ["Date: Thu, 01 Jan 2026 23:59:00 +0000", "Date: Thu, 01 Jan 2026 00:00:00 +0000"])
    }

    @Test func aMailHasTheNotificationsIdAndItsPollsThread() async throws {
        let mail = try await sent(try notification(["Creek"], id: "ntf_0123"))
        for line in [
            "From: \"Starwatch\" <agent@example.org>", "To: me@example.org", "Subject: Creek has been updated",
            "Date: Thu, 01 Jan 2026 00:00:00 +0000", "Message-ID: <ntf_0123@example.org>",
            "References: <starwatch.starred_projects@example.org>", "Auto-Submitted: auto-generated",
            "Content-Language: en",
        ] {
            #expect(mail.contains("\r\n\(line)\r\n") || mail.hasPrefix(line), "\(line)")
        }
        #expect(!mail.contains("List-Unsubscribe"))
    }

    @Test func aRepetitionAfterASnoozeFollowsTheFirstMail() async throws {
        let first = try #require(NotificationMessage(json: try notification(["Creek"]).payload))
        let mail = try await sent(OutgoingNotification(first.repeated(id: "ntf_2", of: "ntf_1")))
        #expect(mail.contains("Message-ID: <ntf_2@example.org>\r\nIn-Reply-To: <ntf_1@example.org>\r\n"))
        #expect(mail.contains("References: <starwatch.starred_projects@example.org> <ntf_1@example.org>\r\n"))
    }

    @Test func mailsOfSeveralPollsAreAThreadOfTheirOwnAndNameThem() async throws {
        let payload = Data(try notification(["Creek", "Farm"]).payload)
        var json = try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
        json["polls"] = ["starred_projects", "my_offers"]
        let bytes = try [UInt8](JSONSerialization.data(withJSONObject: json))
        let message = try #require(NotificationMessage(json: bytes))
        let mail = try await sent(OutgoingNotification(message))
        #expect(mail.contains("References: <starwatch.several_polls@example.org>\r\n"))
        #expect(mail.replacing("=\r\n", with: "").contains("starred_projects, my_offers</span>"))
    }

    @Test func aMailOfOneProjectLinksToItInItsOwnLanguage() async throws {
        let mail = try await sent(try notification(["Creek"], locale: "pl"))
        #expect(mail.contains("Zobacz projekt: \(Self.plan)\r\n"))
        #expect(mail.contains("href=3D\"\(Self.plan)\">Zobacz projekt</a>"))
        #expect(mail.contains("Content-Language: pl\r\n") && mail.contains("<html lang=3D\"pl\">"))
    }

    @Test func severalProjectsAreListedAllAndEscaped() async throws {
        let names = ["A <b>&amp;", nil, "Name\u{202e}gpj.exe"] + (0..<20).map { "Garden \($0)" }
        let mail = try await sent(try notification(names, locale: "ja"))
        let plain = mail.components(separatedBy: "--=_starwatch")[1]
        let html = mail.components(separatedBy: "--=_starwatch")[2]
        #expect(plain.contains("- A <b>&amp;\r\n- ") && plain.contains("\r\n- Garden 19\r\n"))
        // An item whose changes are below its name stands apart from the next one.
        let item = "<li style=3D\"margin:0 0 8px\">"
        #expect(html.contains("\(item)A &lt;b&gt;&amp;amp;</li>") && html.contains("\(item)Garden 19</li>"))
        // 名前のないプロジェクト
        #expect(plain.contains("\r\n- =E5=90=8D=E5=89=8D") && html.contains("\(item)=E5=90=8D=E5=89=8D"))
        // The override, U+202E.
        #expect(!mail.contains("=E2=80=AE"))
        #expect(!html.contains("class=3D\"none\""))
    }

    /// Mail programs list subjects alone, and webmail removes links that only the app opens.
    @Test func eachOfSeveralProjectsIsALinkAndSaysWhatChanged() async throws {
        let fields = ["description": FieldChange(before: "a", after: "b")]
        let notification = try notification(["Creek", nil], plan: { "\(Self.plan)\($0)" }, fields: fields)
        let mail = try await sent(notification)
        let changed = "Changed: description"
        for (index, name) in ["Creek", "A project without a name"].enumerated() {
            let lines = ["- \(name)", "  \(changed)", "  \(Self.plan)\(index)", ""]
            #expect(mail.contains("\r\n" + lines.joined(separator: "\r\n")), "\(mail)")
        }
        let item = try Regex("href=3D\"\(Self.plan)0\">Creek</a> <small style=3D\"[^\"]+\">\(changed)</small></li>")
        #expect(mail.contains(item))
        #expect(mail.contains("\r\nSubject: You have 2 new updates in your starred projects\r\n"))
        let single = try await sent(try self.notification(["Creek"], locale: "pl", fields: fields))
        #expect(single.contains("\r\n\r\nZmieniono: opis\r\n\r\nZobacz projekt: "), "\(single)")
        #expect(single.contains(">Zmieniono: opis</p>"))
    }

    @Test func aNoticeWithoutAProjectHasNoLink() async throws {
        let notice = NotificationMessage(
            staleness: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("starred_projects")),
            lastSuccess: nil,
            isOver: false,
            messages: .english,
            createdAt: Timestamp(seconds: 0)
        )
        let mail = try await sent(OutgoingNotification(notice))
        #expect(!mail.contains("href") && !mail.contains("timesafari:"))
    }

    @Test(
        arguments: [
            ("smtps://mail.test", "smtps://mail.test:465", true, nil),
            ("smtps://mail.test:1465", "smtps://mail.test:1465", true, nil),
            ("smtp://mail.test", "smtp://mail.test:587", true, nil),
            ("smtp://mail.test:25/", "smtp://mail.test:25", true, nil),
            ("smtp://localhost", "smtp://localhost:25", false, nil),
            ("smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525", false, nil),
            ("smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525", true, "/ca.pem"),
            ("SMTP://mail.test", "SMTP://mail.test:587", true, nil),
        ] as [(String, String, Bool, String?)]
    )
    func onlyThisMachineGetsAMailInClearText(
        url: String,
        complete: String,
        isEncrypted: Bool,
        caFile: String?
    )
        async throws
    {
        let server = RecordedService(reply: "250 2.0.0 kept")
        _ = await (try sink(server) { ($0["url"], $0["ca_file"]) = (.text(url), caFile.map { .text($0) }) }).deliver(
            try notification(["Creek"])
        )
        let request = try #require(server.requests.first)
        // The name after the host is the one that the agent says hello by.
        #expect(request.url == complete + "/example.org")
        #expect(request.envelope?.demandsTLS == isEncrypted)
        #expect(request.envelope?.recipients == ["me@example.org"] && request.envelope?.sender == "agent@example.org")
        #expect(request.envelope?.login == nil)
    }

    @Test func aProxyGetsNoMailInClearText() async throws {
        let server = RecordedService(reply: "250 2.0.0 kept")
        let sink = try sink(server) { ($0["url"], $0["proxy"]) = ("smtp://localhost", "environment") }
        _ = await sink.deliver(try notification(["Creek"]))
        #expect(server.requests.first?.envelope?.demandsTLS == true)
    }

    @Test func mailsHaveAClientOfTheirOwn() throws {
        let secrets = SecretFiles(credentialsDirectory: nil)
        #expect(try Self.options().trust(secrets)?.isForMails == true)
        let hook = SinkOptions.Kind.webhook(url: "https://hook.test", secretFile: nil, timeout: .seconds(1))
        #expect(try SinkOptions(name: "hook", kind: hook).trust(secrets) == nil)
    }

    @Test func thePasswordIsReadBeforeEachMail() async throws {
        let folder = try TestFolder()
        let path = try folder.write("first\n", to: "password")
        let server = RecordedService(reply: "250 2.0.0 kept")
        var options = Self.options()
        options["username"] = "agent"
        let file = SecretFile(path: path, setting: "password_file")
        let sink = try Starwatch.MailSink(options, password: .file(file), http: server)
        _ = await sink.deliver(try notification(["Creek"]))
        try folder.write("second\n", to: "password")
        _ = await sink.deliver(try notification(["Creek"]))
        let logins = server.requests.map(\.envelope?.login)
        #expect(logins.map { $0?.name } == ["agent", "agent"] && logins.map { $0?.password } == ["first", "second"])
        try FileManager.default.removeItem(atPath: path)
        let failure = await sink.deliver(try notification(["Creek"])).failure
        #expect(failure == SinkFailure("The sink's password_file cannot be read.", .tokenFile))
    }

    @Test(arguments: [
        ("https://mail.test", "agent@example.org", "me@example.org", "url"),
        ("smtps://mail.test", "agent", "me@example.org", "from"),
        ("smtps://mail.test", "agent@example.org", "me", "to"),
    ])
    func aHostsBadOptionsAreRefusedAtTheStart(url: String, from: String, to: String, setting: String) throws {
        let error = #expect(throws: AgentError.self) {
            try sink(RecordedService(reply: "250 2.0.0 kept"), { $0.kind = .email(url: url, from: from, to: [to]) })
        }
        #expect(
            error?.kind == .configuration && error?.message.hasPrefix("delivery.sinks.mail.\(setting) must ") == true
        )
    }

    @Test func anAccountBringsItsReceiver() async throws {
        let server = RecordedService(reply: "250 2.0.0 kept")
        let sink = try sink(server) { $0["to"] = nil }
        let did = try #require(DID("did:ethr:0x00000000000000000000000000000000000000aa"))
        _ = await sink.sink(of: did, at: SinkAddress(to: "You <you@example.org>")).deliver(try notification(["Creek"]))
        let request = try #require(server.requests.first)
        #expect(request.envelope?.recipients == ["you@example.org"])
        #expect(server.body.contains("To: \"You\" <you@example.org>\r\n"))
    }
}
