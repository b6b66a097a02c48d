import Foundation
import MockEndorser
import Testing

/// Promise 6, channel by channel: what is secret, or comes from outside, is given to the agent at every place there is,
/// each with a word of its own, and looked for at every place where the agent shows or stores something.
@Suite(.serialized) struct SecretCanaryTests {
    private static let did = "did:ethr:0xCaFeDaDa000000000000000000000000CaFeDaDa"
    private static let secret = "CANARYSECRET0123456789abcdefghij"

    /// Secrets that must appear nowhere, by the channel through which they enter.
    private static let canaries = [
        "shared secret": secret, "webhook secret": "CANARYHOOKSECRET", "status text of an answer": "CANARYBODY",
        "body of an answer": "CANARYJSON", "key of an answer": "CANARYKEY", "header of an answer": "CANARYHEADER",
        "user of a redirect": "CANARYUSER", "password of a redirect": "CANARYPASSWORD",
        "path of a redirect": "CANARYPATH",
        "query of a redirect": "CANARYQUERY", "path of a sink": "CANARYHOOKPATH", "query of a sink": "CANARYHOOKQUERY",
        "sender of a mail": "CANARYSENDER", "receiver of a mail": "CANARYRECEIVER",
        "user of a mail": "CANARYMAILUSER", "password of a mail": "CANARYMAILPASSWORD",
        "output of a command": "CANARYOUTPUT", "errors of a command": "CANARYERRORS",
    ]

    private struct Place {
        let name: String
        let bytes: Data

        init(_ name: String, _ text: String) { (self.name, bytes) = (name, Data(text.utf8)) }

        init(_ name: String, _ bytes: Data) { (self.name, self.bytes) = (name, bytes) }
    }

    @Test func noSecretComesOutOfAnyPlaceByAnyChannel() async throws {
        var options = MockServerOptions()
        options.planCount = 3
        options.requestsPerMinute = nil
        options.auth = .sharedSecret(Array(Self.secret.utf8))
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        try workspace.write(Self.secret + "\n", to: "secret")
        try workspace.write("whsec_" + Data("CANARYHOOKSECRET".utf8).base64EncodedString(), to: "hook-secret")
        try workspace.write("CANARYMAILPASSWORD", to: "mail-password")
        let mail = try await MailServer(["--login", "CANARYMAILUSER", "CANARYMAILPASSWORD"], in: workspace)
        try workspace.write(configuration(mock, mail, workspace), to: "starwatch.yaml")
        script(mock)
        mock.publish(mock.plans.map { MockChange(planID: $0.id) })

        let config = workspace.path("starwatch.yaml")
        let first = try await RunningAgent(config: config, in: workspace)
        _ = await eventually { mock.remainingFaults(at: .plansChanged) == 0 ? true : nil }
        let delivered = await eventually { mock.receivedNotifications.flatMap(\.jwtIDs).count == 3 ? true : nil }
        #expect(delivered == true, "\(first.logText)")
        let log = workspace.path("agent.log")
        let refused = await eventually {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            return ["refused", "errors", "mail"].allSatisfy { text.contains("\"sink\":\"\($0)\"") } ? true : nil
        }
        #expect(refused == true)
        var places = try await shown(by: first, config: config)
        // As after a power cut: what is not in the database yet is in its WAL.
        await first.killNow()
        let wal = try Data(contentsOf: URL(filePath: workspace.path("starwatch.db-wal")))
        #expect(wal.count > 4096)
        places += [
            Place("black box", try Data(contentsOf: URL(filePath: workspace.path("starwatch.db.blackbox")))),
            Place("WAL", wal), Place("database", try Data(contentsOf: URL(filePath: workspace.path("starwatch.db")))),
        ]
        // The log is written to the database periodically and at the end.
        script(mock)
        let second = try await RunningAgent(config: config, in: workspace)
        let isOver = await eventually { mock.remainingFaults(at: .plansChanged) == 0 ? true : nil }
        #expect(isOver == true)
        await second.stop()
        places.append(Place("log", second.logText))
        places.append(Place("closed database", try Data(contentsOf: URL(filePath: workspace.path("starwatch.db")))))

        let tokens = mock.requests().compactMap { $0.header("Authorization")?.dropFirst("Bearer ".count) }
        #expect(!tokens.isEmpty)
        var canaries = Self.canaries
        for (index, token) in Set(tokens).enumerated() {
            // The head of a token is the same in all, and says nothing.
            for part in token.split(separator: ".").dropFirst() {
                canaries["token \(index) \(part.count)"] = String(part)
            }
        }
        for place in places {
            #expect(!place.bytes.isEmpty, "nothing is in the \(place.name)")
            for (channel, canary) in canaries {
                #expect(!place.bytes.contains(canary), "the \(place.name) has the \(channel)")
            }
        }
        // The database is the person's own and knows whom it is about; the log that it keeps does not.
        let lines = try Database.strings(workspace.path("starwatch.db"), "SELECT line FROM log_entries")
        let reasons = try Database.strings(
            workspace.path("starwatch.db"),
            "SELECT reason FROM history WHERE reason IS NOT NULL"
        )
        #expect(lines.count > 5)
        #expect(!reasons.isEmpty)
        for text in lines + reasons {
            for canary in ["CaFeDaDa"] + mock.plans.map(\.name) + mock.publishedIDs + mock.planIDs {
                #expect(!text.contains(canary))
            }
        }
        // The test can fail: the webhook was asked by its path and query, and the database holds the DID.
        let database = try #require(places.first { $0.name == "closed database" }).bytes
        #expect(database.contains(Self.did))
        try await mock.stop()
    }

    @Test(arguments: [
        "server:\n  url: https://joe:CANARY@host.example\n", "server:\n  url: https://host.example?token=CANARY\n",
        "auth:\n  secret: CANARY\n", "identity:\n  did: \"did:ethr CANARY\"\n", "control:\n  token_file: [CANARY]\n",
        "auth:\n  kind: CANARY\n  secret_file: 5\n",
        "delivery:\n  sinks:\n    - name: a\n      kind: webhook\n      url: https://joe:CANARY@host.example/\n",
        "delivery:\n  sinks:\n    - name: a\n      kind: webhook\n      url: ftp://host.example/?key=CANARY\n",
    ])
    func whatIsWrongWithAConfigurationIsSaidWithoutItsValue(yaml: String) async throws {
        let workspace = try Workspace()
        try workspace.write(yaml, to: "starwatch.yaml")
        let result = try await starwatch("check", "--config", workspace.path("starwatch.yaml"))
        #expect(result.status == 2)
        #expect(!result.errors.isEmpty)
        #expect(!(result.output + result.errors).contains("CANARY"), "\(result.errors)")
    }

    // MARK: - The run

    /// Answers that say what must not be repeated, and then real ones.
    private func script(_ mock: MockServer) {
        let headers = [
            "X-Request-ID": "CANARYHEADER", "X-Server-Time": "CANARYHEADER", "RateLimit": "CANARYHEADER",
            "X-Rate-Limit-Remaining": "CANARYHEADER", "Content-Language": "CANARYHEADER", "Age": "CANARYHEADER",
        ]
        mock.script(
            .status(500, headers: headers.merging(["Retry-After": "CANARYHEADER"]) { $1 }, body: "<p>CANARYBODY</p>"),
            .status(
                400,
                headers: headers,
                body: #"{"error": "no user CANARYBODY, token eyJhbGciOiJub25lIn0.CANARYBODY"}"#
            ),
            .redirect(to: "http://CANARYUSER:CANARYPASSWORD@127.0.0.1:1/CANARYPATH?token=CANARYQUERY"),
            .status(
                200,
                headers: headers,
                body: #"{"data": [{"jwtId": "CANARYJSON", "CANARYKEY": 1}], "CANARYKEY": {}}"#
            ),
            .status(200, headers: headers, body: #"{"CANARYKEY": CANARYJSON"#),
            .status(401, headers: ["WWW-Authenticate": "Bearer CANARYHEADER"], body: "CANARYBODY"),
            at: .plansChanged
        )
        mock.script(.status(500, headers: headers, body: "CANARYBODY"), at: .acknowledge)
    }

    private func configuration(_ mock: MockServer, _ mail: MailServer, _ workspace: Workspace) -> String {
        var configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            did: Self.did,
            sinks: TestConfiguration.webhook(mock.url) + """

                    - name: refused
                      kind: webhook
                      url: \(mock.url)/CANARYHOOKPATH?token=CANARYHOOKQUERY
                      secret_file: \(workspace.path("hook-secret"))
                    - name: errors
                      kind: command
                      argv: ["/bin/sh", "-c", "echo CANARYOUTPUT; echo CANARYERRORS >&2; exit 3"]
                    - name: mail
                      kind: email
                      url: \(mail.url)
                      from: CANARYSENDER <CANARYSENDER@example.org>
                      to: unknown+CANARYRECEIVER@example.org
                      username: CANARYMAILUSER
                      password_file: \(workspace.path("mail-password"))
                    - name: log
                      kind: log
                """
        )
        configuration.auth = "kind: shared_secret\n  secret_file: \(workspace.path("secret"))"
        // Not to be guessed from the answers below.
        return configuration.yaml(in: workspace).replacing("server:\n", with: "server:\n  dialect: canonical\n")
    }

    /// Everything that an operator can see while the agent runs.
    private func shown(by agent: RunningAgent, config: String) async throws -> [Place] {
        var places = [Place("log", agent.logText)]
        for path in ["/metrics", "/", "/api/v1/status", "/-/healthy", "/-/ready"] {
            places.append(Place(path, try await agent.pages.get(path)))
        }
        let open = try await agent.pages.get("/metrics", headers: ["Accept": "application/openmetrics-text"])
        places.append(Place("OpenMetrics", open))
        for command in [["status"], ["status", "--json"], ["outbox", "list"], ["sinks", "test", "mail"]] {
            let result = try await starwatch(command + ["--config", config])
            places.append(Place("starwatch \(command.joined(separator: " "))", result.output + result.errors))
        }
        return places
    }
}
