import Foundation
import MockEndorser
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// A mock whose `/hook` receives, and a client.
private struct Receiver {
    let mock: MockServer
    let http: HTTPClient
    let clock: ManualClock
    let folder: TestFolder

    static func run(secret: [UInt8]? = nil, _ body: (Receiver) async throws -> Void) async throws {
        let clock = ManualClock()
        var options = MockServerOptions()
        options.hookSecret = secret
        options.now = { Date(timeIntervalSince1970: clock.now.seconds) }
        let mock = MockServer(options: options)
        let http = try HTTPClient(clock: {
            StarwatchTransport.ClockReading(wall: clock.now, monotonic: clock.monotonic)
        })
        let receiver = Receiver(mock: mock, http: http, clock: clock, folder: try TestFolder())
        try await mock.start()
        do {
            try await body(receiver)
        } catch {
            http.shutdown()
            try await mock.stop()
            throw error
        }
        http.shutdown()
        try await mock.stop()
    }

    func webhook(
        secret: SecretFile? = nil,
        timeout: Duration = .seconds(30),
        template: BodyTemplate? = nil
    ) -> RequestSink {
        RequestSink.webhook(
            name: "hook",
            url: mock.url + "/hook",
            timeout: timeout,
            http: http,
            time: clock,
            secret: secret.map(SinkSecret.file),
            template: template
        )
    }

    func secret(_ text: String) throws -> SecretFile {
        SecretFile(path: try folder.write(text, to: "secret"), setting: "delivery.sinks.hook.secret_file")
    }
}

@Suite(.timeLimit(.minutes(5))) struct WebhookSinkTests {
    @Test func aURLInAFileIsReadForEachRequest() async throws {
        let folder = try TestFolder()
        let http = RecordedService()
        let path = try folder.write("https://hook.test/one\n", to: "url")
        let sink = RequestSink.webhook(
            name: "hook",
            url: "",
            urlFile: SecretFile(path: path, setting: "url_file"),
            timeout: .seconds(3),
            http: http,
            time: ManualClock()
        )
        #expect(await sink.deliver(.sample()) == .ok)
        _ = try folder.write("https://hook.test/another", to: "url")
        #expect(await sink.deliver(.sample()) == .ok)
        #expect(http.requests.map(\.url) == ["https://hook.test/one", "https://hook.test/another"])
        // What check would refuse gets nothing.
        _ = try folder.write("http://10.0.0.1/x", to: "url")
        let failure = await sink.deliver(.sample()).failure
        #expect(failure?.sentence == "The sink's url_file has no good address; run starwatch check.")
        #expect(http.requests.count == 2)
    }

    @Test func theHeadersAreThoseOfStandardWebhooks() async throws {
        try await Receiver.run { receiver async throws in
            #expect(await receiver.webhook().deliver(.sample("ntf_9")) == .ok)
            let request = try #require(receiver.mock.requests(to: .hook).first)
            #expect(request.method == "POST")
            #expect(request.header("webhook-id") == "ntf_9")
            #expect(request.header("webhook-timestamp") == String(receiver.clock.now.wholeSeconds))
            #expect(request.header("webhook-signature") == nil)
            #expect(request.header("content-type") == "application/json")
            #expect(request.header("user-agent") == AgentVersion.userAgent)
            #expect(request.header("x-run-id") == "run_1")
            #expect(Array(request.body) == OutgoingNotification.sample("ntf_9").payload)
        }
    }

    @Test(arguments: ["a plain secret\n", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
    func theReceiverVerifiesTheSignatureOfEveryTry(_ text: String) async throws {
        let key = try #require(HookSecret.key(in: Data(text.utf8)))
        try await Receiver.run(secret: key) { receiver async throws in
            let sink = receiver.webhook(secret: try receiver.secret(text))
            #expect(await sink.deliver(.sample()) == .ok)
            receiver.clock.advance(by: .seconds(3600))
            #expect(await sink.deliver(.sample()) == .ok)
            let received = receiver.mock.receivedNotifications
            #expect(received.map(\.id) == ["ntf_1"])
            #expect(received.first?.bodies.count == 2)
            #expect(received.first?.bodiesAgree == true)
            #expect(receiver.mock.refusedNotifications == 0)
        }
    }

    @Test func aBodyOfTheUsersOwnIsSignedAndHasTheHeadersOfEveryWebhook() async throws {
        let template = try BodyTemplate(
            json: Array(#"{"text":"<{{body}}> {{part}}","id":"{{id}}","n":"{{count}}"}"#.utf8)
        )
        try await Receiver.run(secret: Array("a plain secret".utf8)) { receiver async throws in
            let sink = receiver.webhook(secret: try receiver.secret("a plain secret"), template: template)
            #expect(await sink.deliver(.sample("ntf_9", name: #"\"{{id}}\\🌻"#)) == .ok)
            let request = try #require(receiver.mock.requests(to: .hook).first)
            #expect(request.header("content-type") == "application/json")
            #expect(request.header("webhook-id") == "ntf_9")
            #expect(request.header("webhook-signature")?.isEmpty == false)
            let body = #"{"text":"<\"{{id}}\\🌻 has been updated> ","id":"ntf_9","n":1}"#
            #expect(String(decoding: request.body, as: UTF8.self) == body)
            #expect(receiver.mock.refusedNotifications == 0)
        }
    }

    /// Without the field, the end of a notice would come as another alert.
    @Test(
        arguments: [(nil, true), (#"["{{title}}"]"#, false), (#"["{{title}}", "{{cleared}}"]"#, true)]
            as [(String?, Bool)]
    )
    func onlyABodyThatTellsOfWithdrawalsGetsThem(text: String?, takesBack: Bool) throws {
        let sink = RequestSink.webhook(
            name: "hook",
            url: "https://hook.test",
            timeout: .seconds(3),
            http: RecordedService(),
            time: ManualClock(),
            template: try text.map { try BodyTemplate(json: Array($0.utf8)) }
        )
        #expect(sink.takesBack == takesBack)
    }

    @Test func aWrongSecretIsRejected() async throws {
        try await Receiver.run(secret: Array("right".utf8)) { receiver async throws in
            let sink = receiver.webhook(secret: try receiver.secret("wrong"))
            #expect(await sink.deliver(.sample()).answer.rawValue == "rejected")
            #expect(receiver.mock.refusedNotifications == 1)
        }
    }

    @Test func aSecretThatWasReplacedIsUsedAtOnce() async throws {
        try await Receiver.run(secret: Array("the new one".utf8)) { receiver async throws in
            let sink = receiver.webhook(secret: try receiver.secret("old"))
            #expect(await sink.deliver(.sample()).answer.rawValue == "rejected")
            try receiver.folder.write("the new one", to: "secret")
            #expect(await sink.deliver(.sample()) == .ok)
        }
    }

    /// Receivers with the new or the old secret both verify the request and miss nothing.
    @Test(arguments: ["whsec_b2xkIHNlY3JldA==", "whsec_bmV3IHNlY3JldA=="])
    func whileASecretIsReplacedBothSign(_ receivers: String) async throws {
        let key = try #require(HookSecret.key(in: Data(receivers.utf8)))
        try await Receiver.run(secret: key) { receiver async throws in
            let file = try receiver.secret("whsec_bmV3IHNlY3JldA==\nwhsec_b2xkIHNlY3JldA==\n")
            #expect(await receiver.webhook(secret: file).deliver(.sample()) == .ok)
            let request = try #require(receiver.mock.requests(to: .hook).first)
            #expect(request.header("webhook-signature")?.split(separator: " ").count == 2)
            #expect(receiver.mock.refusedNotifications == 0)
            try receiver.folder.write("whsec_bmV3IHNlY3JldA==\n", to: "secret")
            let isNew = receivers == "whsec_bmV3IHNlY3JldA=="
            #expect(await receiver.webhook(secret: file).deliver(.sample()).answer == (isNew ? .ok : .rejected))
        }
    }

    @Test func aSecretThatCannotBeReadIsUnavailable() async throws {
        try await Receiver.run { receiver async throws in
            let file = SecretFile(path: receiver.folder.path("missing"), setting: "delivery.sinks.hook.secret_file")
            #expect(await receiver.webhook(secret: file).deliver(.sample()).answer.rawValue == "unavailable")
            #expect(receiver.mock.requestCount(of: .hook) == 0)
        }
    }

    @Test(arguments: [
        (200, "ok"), (201, "ok"), (202, "ok"), (204, "ok"), (301, "rejected"), (307, "rejected"), (400, "rejected"),
        (401, "rejected"), (403, "rejected"), (404, "rejected"), (408, "timeout"), (409, "rejected"), (410, "gone"),
        (413, "rejected"), (422, "rejected"), (425, "unavailable"), (429, "unavailable"), (500, "unavailable"),
        (502, "unavailable"), (503, "unavailable"), (504, "unavailable"),
    ])
    func theStatusSaysHowItEnded(_ status: Int, _ expected: String) async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.status(status), at: .hook)
            #expect(await receiver.webhook().deliver(.sample()).answer.rawValue == expected)
        }
    }

    @Test(arguments: [429, 503])
    func whatTheReceiverAsksForIsHandedOn(_ status: Int) async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.status(status, headers: ["Retry-After": "37"]), at: .hook)
            let result = await receiver.webhook().deliver(.sample())
            #expect(result.answer == .unavailable, "The status \(status) did not mean unavailable.")
            #expect(result.retryAfter == .seconds(37))
        }
    }

    @Test(arguments: [(604_800, true), (604_801, false), (2_147_483_647, false)])
    func whoAsksForMoreThanAWeekAsksForNothing(_ seconds: Int64, _ isTaken: Bool) async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.status(429, headers: ["Retry-After": "\(seconds)"]), at: .hook)
            let result = await receiver.webhook().deliver(.sample())
            #expect(result.answer == .unavailable, "A 429 did not mean unavailable.")
            #expect(result.retryAfter == (isTaken ? .seconds(seconds) : nil))
        }
    }

    @Test(arguments: HTTPDateForm.allCases)
    func aDateToComeBackAtIsReadAgainstTheReceiversClock(_ form: HTTPDateForm) async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.clockSkew = .seconds(-7200)
            receiver.mock.script(.rateLimited(retryAfter: .date(in: .seconds(40), form: form)), at: .hook)
            let result = await receiver.webhook().deliver(.sample())
            #expect(result.answer == .unavailable, "A 429 did not mean unavailable.")
            #expect(result.retryAfter == .seconds(40))
        }
    }

    @Test func noAnswerInTimeIsATimeout() async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.neverAnswer, at: .hook)
            #expect(await receiver.webhook(timeout: .seconds(3)).deliver(.sample()) == .timeout)
        }
    }

    @Test func aRefusedOrResetConnectionIsUnavailable() async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.resetBeforeHead, at: .hook)
            #expect(await receiver.webhook().deliver(.sample()).answer.rawValue == "unavailable")
            try await receiver.mock.stop()
            #expect(await receiver.webhook().deliver(.sample()).answer.rawValue == "unavailable")
        }
    }

    @Test func aReceiverThatTookItAndDiedIsAskedAgainUnderTheSameID() async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.commitThenReset, at: .hook)
            #expect(await receiver.webhook().deliver(.sample()).answer.rawValue == "unavailable")
            #expect(await receiver.webhook().deliver(.sample()) == .ok)
            #expect(receiver.mock.receivedNotifications.map(\.id) == ["ntf_1"])
        }
    }

    /// The status arrived before the body.
    @Test(arguments: [false, true])
    func anAnswerWithALongBodyIsAnAnswer(declaresLength: Bool) async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.oversizedBody(bytes: 1 << 20, declaresLength: declaresLength), at: .hook)
            let result = await receiver.webhook().deliver(.sample())
            #expect(result == .ok)
        }
    }

    @Test func aFailureWithALongBodyIsAFailure() async throws {
        try await Receiver.run { receiver async throws in
            let body = "\"" + String(repeating: "x", count: 1 << 20) + "\""
            receiver.mock.script(.status(500, body: body), .status(410, body: body), at: .hook)
            #expect(await receiver.webhook().deliver(.sample()).answer.rawValue == "unavailable")
            let gone = await receiver.webhook().deliver(.sample())
            #expect(gone == .gone)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct NtfySinkTests {
    private func sink(_ receiver: Receiver, url: String? = nil, token: SecretFile? = nil) -> RequestSink {
        RequestSink.ntfy(
            name: "ntfy",
            url: url ?? receiver.mock.url,
            topic: "stars",
            http: receiver.http,
            time: receiver.clock,
            token: token.map(SinkSecret.file)
        )
    }

    @Test func everythingPersonalIsInTheBody() async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.setStickyFault(.status(200), at: .other)
            #expect(await sink(receiver).deliver(.sample("ntf_5")) == .ok)
            let request = try #require(receiver.mock.requests(to: .other).first)
            #expect(request.method == "POST")
            #expect(request.path == "/")
            #expect(request.header("X-Notification-ID") == "ntf_5")
            #expect(request.header("Content-Type") == "application/json")
            #expect(request.header("Authorization") == nil)
            #expect(
                String(decoding: request.body, as: UTF8.self)
                    == #"{"message":"Jardin d’Été 🌻 has been updated","title":"Project Update","topic":"stars"}"#
            )
            #expect(request.headers.allSatisfy { header in header.value.utf8.allSatisfy { $0 < 128 } })
        }
    }

    @Test func aQuietOneIsQuietAndInItsLanguage() async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.setStickyFault(.status(200), at: .other)
            let messages = try #require(LocaleTag("ja").map { MessageCatalogues.builtIn.messages(for: $0) })
            let message = NotificationMessage(
                staleness: "ntf_1",
                runID: "run_1",
                poll: try #require(PollName("starred_projects")),
                lastSuccess: nil,
                isOver: false,
                messages: messages,
                createdAt: receiver.clock.now
            )
            let notification = OutgoingNotification(message)
            #expect(await sink(receiver).deliver(notification) == .ok)
            let request = try #require(receiver.mock.requests(to: .other).first)
            let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
            #expect(body["sequence_id"] as? String == "staleness-starred-projects")
            #expect(body["click"] as? String == "timesafari://notifications/starred-projects")
            #expect(body["priority"] as? Int == 2)
            #expect(body["title"] as? String == "データが古い可能性があります")
        }
    }

    @Test func theTokenIsSentAndASlashAtTheEndOfTheURLIsNotDoubled() async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.setStickyFault(.status(200), at: .other)
            let token = try receiver.secret("tk_secret\n")
            #expect(await sink(receiver, url: receiver.mock.url + "/", token: token).deliver(.sample()) == .ok)
            let request = try #require(receiver.mock.requests(to: .other).first)
            #expect(request.path == "/")
            #expect(request.header("Authorization") == "Bearer tk_secret")
        }
    }

    @Test(arguments: [
        (400, "rejected"), (401, "unavailable"), (403, "unavailable"), (404, "unavailable"), (413, "rejected"),
        (429, "unavailable"), (507, "unavailable"), (410, "gone"),
    ])
    func theStatusSaysHowItEnded(_ status: Int, _ expected: String) async throws {
        try await Receiver.run { receiver async throws in
            receiver.mock.script(.status(status), at: .other)
            #expect(await sink(receiver).deliver(.sample()).answer.rawValue == expected)
        }
    }

    @Test func aTokenThatCannotBeReadIsUnavailable() async throws {
        try await Receiver.run { receiver async throws in
            let token = SecretFile(path: receiver.folder.path("missing"), setting: "delivery.sinks.ntfy.token_file")
            #expect(await sink(receiver, token: token).deliver(.sample()).answer.rawValue == "unavailable")
            #expect(receiver.mock.requestCount(of: .other) == 0)
        }
    }
}
