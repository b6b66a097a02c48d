import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// Mails of the built agent to a real server, aiosmtpd, read back with Python's `email`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailTests {
    /// - Parameter more: Further lines of the sink.
    private static func sink(
        _ url: String,
        name: String = "mail",
        to: String = "me@example.org",
        more: String = ""
    ) -> String {
        """
            - name: \(name)
              kind: email
              url: \(url)
              from: Starwatch <agent@example.org>
              to: \(to)
              \(more)
        """
    }

    /// Sends a test notification with a command, without an agent.
    private func test(_ sinks: String, name: String = "mail", in workspace: Workspace) async throws -> CommandResult {
        let configuration = TestConfiguration(server: "http://127.0.0.1:1", plans: [], sinks: sinks)
        try workspace.write(configuration.yaml(in: workspace), to: "mail.yaml")
        return try await starwatch("sinks", "test", name, "--config", workspace.path("mail.yaml"))
    }

    private static func firstLine(of result: CommandResult) -> Substring { result.output.prefix { $0 != "\n" } }

    @Test func everyAnswerOfTheServerIsTold() async throws {
        let workspace = try Workspace()
        let server = try await MailServer(["--limit", "2000000"], in: workspace)
        let short = try await MailServer(["--limit", "100"], name: "short", in: workspace)
        let cases = [
            ("ok", server.url, "me@example.org", "ok", nil),
            (
                "retried", server.url, "later@example.org", "unavailable",
                "The mail server asks to try later (SMTP 451 4.3.0)."
            ),
            (
                "limited", server.url, "limited@example.org", "unavailable",
                "The mail server asks to try later (SMTP 421 4.7.0)."
            ),
            (
                "rejected", server.url, "unknown@example.org", "rejected",
                "The mail server refused the mail (SMTP 550 5.1.1)."
            ),
            // To all or to none.
            (
                "partly", server.url, "[you@example.org, unknown@example.org]", "rejected",
                "The mail server refused the mail (SMTP 550 5.1.1)."
            ),
            ("too_long", short.url, "me@example.org", "rejected", "The mail server refused the mail (SMTP 552)."),
            (
                "nobody", "smtp://127.0.0.1:1", "me@example.org", "unavailable",
                "The mail server cannot be reached (connection failed)."
            ),
        ]
        for (name, url, to, answer, sentence) in cases {
            let result = try await test(Self.sink(url, name: name, to: to), name: name, in: workspace)
            #expect(result.status == (answer == "ok" ? 0 : 1), "\(name): \(result.output)\(result.errors)")
            let expected = "\(name): \(answer) in "
            let line = Self.firstLine(of: result)
            #expect(line.hasPrefix(expected), "\(result.output)\(result.errors)")
            #expect(line.hasSuffix(sentence.map { " ms: \($0)" } ?? " ms."), "\(result.output)")
            #expect(!result.output.contains("@") && !result.errors.contains("@"))
        }
        #expect(short.count == 0)
        let mails = try await server.mails()
        #expect(mails.count == 3)
        let mail = try #require(mails.first { $0.text.contains("The sink ok works.") })
        #expect(mail.subject == "Starwatch test" && mail.text.contains("The sink ok works."))
        #expect(mail.receivers == ["me@example.org"] && mail.sender == "agent@example.org")
    }

    @Test func theLoginIsCheckedAndNeverTold() async throws {
        let workspace = try Workspace()
        let server = try await MailServer(["--login", "agent", "a secret of words"], in: workspace)
        func login(_ name: String, _ password: String) async throws -> CommandResult {
            try workspace.write(password + "\n", to: "password")
            let more = "username: \(name)\n      password_file: \(workspace.path("password"))"
            return try await test(Self.sink(server.url, more: more), in: workspace)
        }
        #expect(try await login("agent", "a secret of words").status == 0)
        let wrong = try await login("agent", "another secret")
        let sentence = "The mail server refuses the login (SMTP 535); correct username and password_file."
        #expect(wrong.status == 1, "\(wrong.errors)")
        #expect(Self.firstLine(of: wrong).hasSuffix(": \(sentence)"), "\(wrong.output)\(wrong.errors)")
        let none = try await test(Self.sink(server.url), in: workspace)
        #expect(
            Self.firstLine(of: none).hasSuffix("(SMTP 530); add username and password_file, or ca_file."),
            "\(none.output)\(none.errors)"
        )
        #expect(server.count == 3)

        // doctor logs in, and sends nothing.
        let doctor = try await starwatch("doctor", "--config", workspace.path("mail.yaml"))
        #expect(doctor.output.contains("sink mail"), "\(doctor.output)\(doctor.errors)")
        let more = "username: agent\n      password_file: \(workspace.path("password"))"
        _ = try await test(Self.sink(server.url, more: more), in: workspace)
        let warned = try await starwatch("doctor", "--config", workspace.path("mail.yaml"))
        #expect(warned.output.contains(sentence), "\(warned.output)\(warned.errors)")
        #expect(server.count == 3)
        let all = [wrong, none, doctor, warned].map { $0.output + $0.errors }.joined()
        #expect(!all.contains("secret of words") && !all.contains("another secret") && !all.contains("@example.org"))
    }

    @Test(arguments: ["--tls", "--starttls"])
    func encryptionIsDemandedAndItsCertificateChecked(kind: String) async throws {
        let workspace = try Workspace()
        let own = try await MailCertificate(in: workspace)
        let server = try await MailServer([kind, own.certificate, own.key], in: workspace)
        let url = kind == "--tls" ? server.url.replacing("smtp:", with: "smtps:") : server.url
        let trusted = try await test(Self.sink(url, more: "ca_file: \(own.certificate)"), in: workspace)
        #expect(trusted.status == 0, "\(trusted.output)\(trusted.errors)")
        #expect(server.count == 3)
        // Nobody else signed it.
        if kind == "--tls" {
            let untrusted = try await test(Self.sink(url), in: workspace)
            let line = Self.firstLine(of: untrusted)
            #expect(line.hasSuffix("cannot be reached (TLS handshake failed)."), "\(untrusted.output)")
        }
        let plain = try await MailServer(name: "plain", in: workspace)
        let refused = try await test(Self.sink(plain.url, more: "ca_file: \(own.certificate)"), in: workspace)
        #expect(
            Self.firstLine(of: refused).hasSuffix(
                "The mail server offers no STARTTLS; use smtps://, or another server."
            ),
            "\(refused.output)\(refused.errors)"
        )
        #expect(server.count == 3 && plain.count == 0)
    }

    @Test func aMailIsReadAsItWasMeant() async throws {
        let workspace = try Workspace()
        let server = try await MailServer(in: workspace)
        let world = try await AgentWorld {
            ($0.planCount, $0.dialect) = (8, .endorser)
        } configure: { configuration, _ in
            configuration.groupInterval = "0s"
            configuration.sinks = Self.sink(server.url, to: #"["Żółw 🐢 <me@example.org>", you@example.org]"#)
        }
        try world.write { $0.groupInterval = "0s\n  locale: pl" }
        let plans = world.mock.planIDs
        let names = [
            "Ogród 🌻👩‍👩‍👧", "Creek\r\nBcc: all@example.org\r\n\r\n<script>alert(1)</script>", ".", "\u{202e}gpj.exe",
            String(repeating: "long ", count: 100), "From me", "=?utf-8?B?QQ==?=",
        ]
        world.mock.publish(zip(plans, names).map { MockChange(planID: $0, name: $1) })
        let agent = try await world.start()
        #expect(await eventually { server.count >= 1 ? true : nil } == true, "\(agent.logText.suffix(2000))")
        world.mock.publish([MockChange(planID: plans[0], name: names[0])])
        #expect(await eventually { server.count >= 2 ? true : nil } == true, "\(agent.logText.suffix(2000))")
        #expect(await agent.stop() == 0)

        let mails = try await server.mails()
        let (several, single) = (mails[0], mails[1])
        for mail in mails {
            #expect(mail.defects.isEmpty && mail.isPlain && mail.longest <= 998, "\(mail)")
            #expect(!mail.fields.contains("Bcc") && mail.fields.count == Set(mail.fields).count)
            #expect(mail.type == "multipart/alternative" && mail.language == "pl")
            #expect(mail.from == [["Starwatch", "agent@example.org"]])
            #expect(mail.to == [["Żółw 🐢", "me@example.org"], ["", "you@example.org"]])
            #expect(mail.receivers == ["me@example.org", "you@example.org"])
            #expect(mail.references == ["<starwatch.starred_projects@example.org>"])
        }
        #expect(several.subject == "Masz 7 nowych aktualizacji w projektach oznaczonych gwiazdką", "\(several.subject)")
        #expect(single.subject == "Projekt Ogród 🌻👩‍👩‍👧 został zaktualizowany", "\(single.subject)")
        #expect(
            single.text.hasPrefix(single.subject + "\n\n") && single.text.contains("\n\nZobacz projekt: https://"),
            "\(single.text)"
        )
        #expect(single.html.contains(">Projekt Ogród 🌻👩‍👩‍👧 został zaktualizowany</p>"))
        #expect(plans.prefix(7).allSatisfy { several.text.contains("\n  \($0)\n") }, "\(several.text)")
        #expect(several.text.contains("\n- .\n") && several.text.contains("\n- From me\n"), "\(several.text)")
        #expect(several.text.contains("=?utf-8?B?QQ==?=") && !several.text.contains("\u{202e}"))
        #expect(!several.html.contains("<script>") && several.html.contains("&lt;script&gt;"))
        #expect(!agent.logText.contains("@example.org") && !agent.logText.contains("Ogród"))
        try await world.mock.stop()
    }

    /// The server, too, ends connections at the wrong moment: after it has kept a mail, and before it says so.
    @Test func everyNotificationIsOneMailThoughAgentAndServerBreakOff() async throws {
        let world = try await AgentWorld { $0.planCount = 39 }
        let server = try await MailServer(["--crash", "9"], in: world.workspace)
        try world.write {
            $0.groupInterval = "0s"
            $0.sinks += "\n" + Self.sink(server.url)
        }
        var agent = try await world.start()
        var published: [String] = []
        for life in 0..<10 {
            for plan in world.mock.planIDs[life * 3..<life * 3 + 3] {
                published += world.mock.publish([MockChange(planID: plan)])
                await pause(milliseconds: Int.random(in: 0...300))
            }
            await agent.killNow()
            agent = try await world.start()
        }
        let file = world.workspace.path("notifications.jsonl")
        func arrival(of changes: [String]) async {
            let expected = changes.sorted()
            let arrived = await eventually { () -> Bool? in
                guard let text = try? String(contentsOfFile: file, encoding: .utf8),
                    text.matches(of: /"jwt_id":"([^"]*)"/).map({ String($0.1) }).sorted() == expected
                else { return nil }
                let sql = "SELECT count(*) FROM deliveries WHERE state = 'pending'"
                return (try? Database.integer(world.database, sql)) == 0 ? true : nil
            }
            #expect(arrived == true, "\(agent.logText.suffix(2000))")
        }
        await arrival(of: published)
        // The ninth mail comes again. A slow agent can have made fewer of the changes so far.
        for plan in world.mock.planIDs[30...] where server.count < 9 {
            published += world.mock.publish([MockChange(planID: plan)])
            await arrival(of: published)
        }
        #expect(await agent.stop() == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let ids = text.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /"id":"(ntf_[^"]*)"/).map { String($0.1) }
        }
        let mails = try await server.mails()
        #expect(Set(mails.map(\.id)) == Set(ids.map { "<\($0)@example.org>" }))
        // One that came again is the same mail.
        #expect(Set(mails.map { $0.id + $0.date + $0.subject + $0.text }).count == ids.count)
        print("\(ids.count) notifications, \(mails.count) mails")
        #expect(mails.count > ids.count)
        #expect(try Database.booksBalance(world.database))
        try await world.mock.stop()
    }
}
