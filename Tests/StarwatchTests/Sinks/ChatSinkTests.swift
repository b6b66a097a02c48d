import Foundation
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// What each service gets, by its documentation, and what its answers mean.
@Suite struct ChatSinkTests {
    private static let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
    private let clock = ManualClock()
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// - Parameter plan: `nil` for a notification of two plans.
    private func notification(
        title: String = "Project Update",
        body: String = "Creek has been updated",
        plan: String? = ChatSinkTests.plan,
        isLow: Bool = false
    ) throws -> OutgoingNotification {
        let plans = plan.map { [$0] } ?? ["1", "2"]
        let changes = plans.map {
            ["jwt_id": "1704067200_abc123_def45678", "plan": $0, "changed_at": "2024-01-01T00:00:00Z"]
        }
        var payload: [String: Any] = [
            "id": "ntf_1", "run_id": "run_1", "poll": "starred_projects", "group": "single",
            "collapse_key": "starred-projects", "count": plans.count, "title": title, "body": body, "locale": "en",
            "created_at": "2024-01-01T00:00:00Z", "deep_link": "timesafari://notifications/starred-projects",
            "actions": [String](), "changes": changes,
        ]
        if isLow { payload["priority"] = "low" }
        // No service gets what only programs may read.
        payload["account"] = "did:ethr:0x00000000000000000000000000000000000000aa"
        return OutgoingNotification(
            id: "ntf_1",
            runID: "run_1",
            poll: "starred_projects",
            group: .single,
            count: plans.count,
            text: (title, body),
            payload: Array(try JSONSerialization.data(withJSONObject: payload))
        )
    }

    private func sink(
        _ service: SinkFormat,
        _ http: RecordedService,
        url: String = "https://chat.test/hook"
    ) throws -> RequestSink {
        let token =
            service.needsToken ? SecretFile(path: try folder.write("12:to-ken\n", to: "token"), setting: "") : nil
        return RequestSink.chat(
            name: "room",
            service: service,
            receiver: (service.needsRoom ? "!a b:chat.test" : "", token.map(SinkSecret.file)),
            address: .url(url),
            timeout: .seconds(3),
            http: http,
            time: clock
        )
    }

    /// The sink of one of many accounts, which brings `address`.
    private func sink(
        _ service: SinkFormat,
        _ http: RecordedService,
        bringing address: SinkAddress
    ) throws -> RequestSink {
        let account = try #require(DID("did:ethr:0x00000000000000000000000000000000000000aa"))
        return try sink(service, http).sink(of: account, at: address)
    }

    /// The only request of a delivery, and its JSON.
    private func sent(
        _ service: SinkFormat,
        _ notification: OutgoingNotification
    ) async throws -> (HTTPRequest, SinkJSON) {
        let http = RecordedService()
        #expect(await (try sink(service, http)).deliver(notification) == .ok)
        let requests = http.requests
        let request = try #require(requests.count == 1 ? requests[0] : nil)
        return (request, try SinkJSON(text: http.body))
    }

    @Test(arguments: SinkFormat.allCases)
    func everyServiceGetsTheTextInAJSONObject(service: SinkFormat) async throws {
        let (request, json) = try await sent(service, notification(title: "Projekt 🌻", body: "Jardin d’Été\nchanged"))
        #expect(request.method == (service == .matrix ? .put : .post))
        #expect(request.headers.contains { $0 == ("Content-Type", "application/json") })
        #expect(request.timeout == .seconds(3))
        let text = json.description
        #expect(text.contains("Projekt 🌻") && text.contains("Jardin d’Été"), "\(text)")
        // A token is in one place, and the DID nowhere.
        #expect(!text.contains("did:"))
    }

    @Test func theAddressesAndTokensAreWhereTheServicesWantThem() async throws {
        let expected: [SinkFormat: (url: String, header: (String, String)?)] = [
            .slack: ("https://chat.test/hook", nil), .discord: ("https://chat.test/hook?wait=true", nil),
            .mattermost: ("https://chat.test/hook", nil), .teams: ("https://chat.test/hook", nil),
            .apprise: ("https://chat.test/hook", nil),
            .matrix: (
                "https://chat.test/hook/_matrix/client/v3/rooms/%21a%20b%3Achat.test/send/m.room.message/ntf_1",
                ("Authorization", "Bearer 12:to-ken")
            ),
            .telegram: ("https://chat.test/hook/bot12:to-ken/sendMessage", nil),
            .gotify: ("https://chat.test/hook/message", ("X-Gotify-Key", "12:to-ken")),
            .pushover: ("https://chat.test/hook/1/messages.json", nil),
        ]
        for service in SinkFormat.allCases {
            let (request, json) = try await sent(service, notification())
            let wanted = try #require(expected[service])
            #expect(request.url == wanted.url)
            for name in ["Authorization", "X-Gotify-Key"] {
                let value = request.headers.first { $0.name == name }?.value
                #expect(value == (wanted.header?.0 == name ? wanted.header?.1 : nil), "\(service) \(name)")
            }
            #expect(json.description.contains("to-ken") == (service == .pushover))
        }
    }

    @Test func textsOfOthersBecomeNeitherMarkupNorMentionNorLink() async throws {
        let name = "<!channel> @all **x** [y](https://evil.test) <b>&amp;"
        let (_, slack) = try await sent(.slack, notification(title: name, body: name))
        #expect(slack["blocks"][0]["text"]["type"].text == "plain_text")
        #expect(slack["blocks"][1]["text"]["type"].text == "plain_text")
        #expect(slack["text"].text?.hasPrefix("&lt;!channel&gt;") == true && slack["mrkdwn"].flag == false)
        let (_, discord) = try await sent(.discord, notification(body: name))
        #expect(discord["allowed_mentions"]["parse"].count == 0)
        #expect(discord["embeds"][0]["description"].text?.contains(#"\*\*x\*\* \[y\]\(https\://evil.test\)"#) == true)
        let (_, mattermost) = try await sent(.mattermost, notification(body: name))
        let text = mattermost["text"].text ?? ""
        #expect(!text.contains("@all") && !text.contains("](https://evil") && !text.contains("<"), "\(text)")
        #expect(text.contains(#"\*\*x\*\* &#91;y&#93;(https"#), "\(text)")
        let (_, teams) = try await sent(.teams, notification(title: name, body: name))
        for index in 0..<2 {
            let run = teams["attachments"][0]["content"]["body"][index]["inlines"][0]
            #expect(run["type"].text == "TextRun" && run["text"].text == name)
        }
        for service in [SinkFormat.telegram, .matrix] {
            let (_, json) = try await sent(service, notification(body: name))
            let html = json[service == .matrix ? "formatted_body" : "text"].text ?? ""
            #expect(html.contains("&lt;b&gt;&amp;amp;") && !html.contains("<!channel>"), "\(html)")
            #expect(!html.contains("@all"), "\(html)")
        }
        // The plain body stays as it is. An empty object says that it mentions nobody.
        let (_, matrix) = try await sent(.matrix, notification(body: "@room"))
        #expect((matrix["m.mentions"].value as? [String: Any])?.isEmpty == true)
    }

    @Test func longTextsEndWithAnEllipsisAndNeverWithinACharacterOrItsEscape() async throws {
        let limits: [(SinkFormat, Int, @Sendable (SinkJSON) -> String?)] = [
            (.slack, 3000, { $0["blocks"][1]["text"]["text"].text }),
            (.discord, 4096, { $0["embeds"][0]["description"].text }),
            (.pushover, 1024, { $0["message"].text }), (.gotify, 12_000, { $0["message"].text }),
            (.apprise, 12_000, { $0["body"].text?.components(separatedBy: "\n\n").first }),
            (.teams, 6000, { $0["attachments"][0]["content"]["body"][1]["inlines"][0]["text"].text }),
        ]
        for (service, limit, text) in limits {
            let (_, json) = try await sent(service, notification(body: String(repeating: "👩‍👩‍👧‍👦*", count: 9000)))
            let shown = try #require(text(json))
            #expect(shown.utf16.count <= limit && shown.utf16.count > limit - 20 && shown.hasSuffix("…"), "\(service)")
            #expect(shown.dropLast().last == "👩‍👩‍👧‍👦" || shown.dropLast().last == "*", "\(service)")
        }
        let (matrix, _) = try await sent(.matrix, notification(body: String(repeating: "界<", count: 9000)))
        #expect(try #require(matrix.body).count < 60_000)
        let (_, telegram) = try await sent(.telegram, notification(body: String(repeating: "&", count: 5000)))
        let text = try #require(telegram["text"].text)
        #expect(text.utf16.count <= 4096)
        #expect(text.replacing("&amp;", with: "").contains("&") == false)
        // A text of just the limit stays whole.
        #expect(ChatText.plain("abc", limit: 3) == "abc" && ChatText.plain("abcd", limit: 3) == "ab…")
        #expect(ChatText.html("a<b", limit: 6) == "a&lt;b" && ChatText.html("a<bc", limit: 6) == "a&lt;…")
    }

    @Test func theOnlyProjectIsLinkedWhereABrowserCanOpenIt() async throws {
        for service in [SinkFormat.slack, .discord, .mattermost, .matrix, .telegram, .teams, .apprise] {
            let (_, linked) = try await sent(service, notification())
            #expect(linked.description.contains(Self.plan), "\(service)")
            if service != .discord { #expect(linked.description.contains("View Project"), "\(service)") }
            for other in [nil, "not a link", "javascript:alert(1)", "https://a.test/\"><b>", "https://user@a.test/x"] {
                let (_, json) = try await sent(service, notification(plan: other))
                #expect(!json.description.contains("View Project"))
                #expect(other.map { !json.description.contains($0) } ?? true)
            }
        }
        for service in [SinkFormat.gotify, .pushover, .apprise] {
            let (_, json) = try await sent(service, notification(plan: nil))
            #expect(json.description.contains("timesafari://notifications/starred-projects"), "\(service)")
        }
    }

    /// Services refuse a text without a character that can be seen.
    @Test(arguments: SinkFormat.allCases)
    func aTextThatIsEmptyIsTheTitleAndATitleThatIsEmptyTheText(service: SinkFormat) async throws {
        let named = try await sent(service, notification(title: "Title", body: " \n", plan: "p")).1
        #expect(named.description.components(separatedBy: "Title").count > 2, "\(service): \(named)")
        let told = try await sent(service, notification(title: "", body: "Text", plan: "p")).1
        #expect(told.description.components(separatedBy: "Text").count > 2, "\(service): \(told)")
        let silent = try await sent(service, notification(title: "", body: "", plan: "p")).1
        #expect(silent.description.contains("Starwatch"), "\(service)")
    }

    @Test func aNoticeThatCanWaitIsQuiet() async throws {
        // The default push rules of Matrix silence every notice.
        #expect(try await sent(.matrix, notification(isLow: true)).1["msgtype"].text == "m.notice")
        #expect(try await sent(.matrix, notification()).1["msgtype"].text == "m.text")
        #expect(try await sent(.pushover, notification(isLow: true)).1["priority"].number == -1)
        #expect(try await sent(.gotify, notification(isLow: true)).1["priority"].number == 2)
        #expect(try await sent(.telegram, notification(isLow: true)).1["disable_notification"].flag == true)
        #expect(try await sent(.telegram, notification()).1["disable_notification"].flag == false)
    }

    @Test func theWaitOfEachServiceIsKept() async throws {
        let now = clock.now.wholeSeconds
        let answers: [(SinkFormat, RecordedService, Duration?)] = [
            (.slack, RecordedService(429, headers: [("Retry-After", "30")]), .seconds(30)),
            (
                .discord, RecordedService(429, body: #"{"message":"…","retry_after":0.65,"global":false}"#),
                .milliseconds(650)
            ),
            (
                .matrix, RecordedService(429, body: #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2000}"#),
                .seconds(2)
            ),
            (
                .telegram, RecordedService(429, body: #"{"ok":false,"error_code":429,"parameters":{"retry_after":7}}"#),
                .seconds(7)
            ),
            (.pushover, RecordedService(429, headers: [("X-Limit-App-Reset", String(now + 90))]), .seconds(90)),
            (
                .pushover, RecordedService(429, headers: [("X-Limit-App-Reset", String(now + 20 * 86_400))]),
                .seconds(7 * 86_400)
            ),
            // The header counts before the body, and nonsense is none.
            (.discord, RecordedService(429, headers: [("Retry-After", "3")], body: #"{"retry_after":9}"#), .seconds(3)),
            (.telegram, RecordedService(429, body: #"{"retry_after":-1}"#), nil),
            (.telegram, RecordedService(429, body: #"{"retry_after":1e300}"#), nil),
            (.gotify, RecordedService(503, body: "<html>"), nil),
        ]
        for (service, http, wait) in answers {
            let result = await (try sink(service, http)).deliver(try notification())
            #expect(result.answer == .unavailable && result.retryAfter == wait, "\(service)")
        }
        for (status, answer) in [(204, SinkAnswer.ok), (202, .ok), (400, .rejected), (422, .rejected), (410, .gone)] {
            let http = RecordedService(status, body: #"{"retry_after":9}"#)
            #expect(await (try sink(.discord, http)).deliver(try notification()).answer == answer, "\(status)")
        }
    }

    /// A token that was revoked, or a server that has moved, refuses every notification, and none of them is wrong.
    @Test(arguments: SinkFormat.allCases, [301, 302, 308, 401, 403, 404, 405])
    func aServiceThatRefusesTheSinkHoldsTheNotification(service: SinkFormat, status: Int) async throws {
        let result = await (try sink(service, RecordedService(status, body: "no"))).deliver(try notification())
        #expect(result.answer == .unavailable && result.failure?.reason.status == status)
        #expect(result.failure?.sentence.contains("correct its url, room or token_file") == true)
        #expect(result.said == Array("no".utf8))
    }

    /// At the same host, other accounts have other rooms. A token of the configuration is that of all accounts.
    @Test(
        arguments: [
            (.telegram, 401, "", [.secret]), (.telegram, 403, "", [.room, .secret]), (.telegram, 404, "", [.secret]),
            (.telegram, 400, #"{"description":"Bad Request: chat not found"}"#, [.room]),
            (.matrix, 401, "", [.secret]), (.matrix, 403, "", [.room, .secret]), (.matrix, 404, "", [.url]),
            (.matrix, 404, #"{"errcode":"M_NOT_FOUND"}"#, [.room]),
            (.pushover, 400, #"{"token":"invalid"}"#, [.secret]), (.pushover, 400, #"{"user":"invalid"}"#, [.room]),
            (.gotify, 401, "", [.secret]), (.gotify, 403, "", [.secret]), (.gotify, 404, "", [.url]),
            (.slack, 401, "", [.url]), (.slack, 403, "", [.url]), (.slack, 404, "", [.url]), (.slack, 302, "", [.url]),
            (.gotify, 405, "", [.url]), (.apprise, 204, "", [.url]),
            (.mattermost, 400, #"{"id":"web.incoming_webhook.invalid.app_error"}"#, [.url]),
        ] as [(SinkFormat, Int, String, [SinkAddress.Part])]
    )
    func onlyARefusalOfWhatTheAccountBroughtIsItsOwn(
        service: SinkFormat,
        status: Int,
        body: String,
        refused: [SinkAddress.Part]
    ) async throws {
        let brought: [(SinkAddress.Part?, SinkAddress)] = [
            (.url, SinkAddress(url: "https://chat.test/own")), (.room, SinkAddress(room: "!own:chat.test")),
            (.secret, SinkAddress(secret: "own-token")), (nil, SinkAddress()),
        ]
        for (part, address) in brought {
            let sink = try sink(service, RecordedService(status, body: body), bringing: address)
            let result = await sink.deliver(try notification())
            let isOwn = part.map { refused.contains($0) } ?? false
            #expect(result.answer == .unavailable && result.isOfReceiver == isOwn, "\(address.parts)")
            var hosts = SinkHosts(areOfAccounts: true)
            for _ in 0..<5 { _ = hosts["https://chat.test"].record(result, at: clock.now) }
            #expect(hosts.whole.condition == (isOwn ? .working : .down), "\(address.parts)")
        }
    }

    /// The month of one application must not keep the messages of others.
    @Test(arguments: [(SinkAddress(secret: "own-token"), true), (SinkAddress(room: "own-user"), false)])
    func aLimitOfATokenThatTheAccountBroughtIsItsOwn(address: SinkAddress, isOwn: Bool) async throws {
        let (now, host, wait) = (clock.now, "https://chat.test", Duration.seconds(6 * 86_400))
        let service = RecordedService(429, headers: [("X-Limit-App-Reset", String((now + wait).wholeSeconds))])
        let result = await (try sink(.pushover, service, bringing: address)).deliver(try notification())
        #expect(result.answer == .unavailable && result.retryAfter == wait && result.isOfReceiver == isOwn)
        var hosts = SinkHosts(areOfAccounts: true)
        let next = hosts[host].record(result, at: now).nextTry
        // An account's notifications do not wait for a month.
        #expect(next == now + (isOwn ? .seconds(3600) : wait))
        let others = hosts[host].admit(at: now).waitUntil
        #expect(others == (isOwn ? nil : now + wait))
    }

    @Test(
        arguments: [
            (.slack, "rate_limited", true), (.teams, "", true),
            (.discord, #"{"message":"…","retry_after":0.65,"global":false}"#, true),
            (.discord, #"{"message":"…","retry_after":0.65,"global":true}"#, false), (.discord, "<html>", false),
            (.mattermost, "", false), (.apprise, "", false),
        ] as [(SinkFormat, String, Bool)]
    )
    func aLimitOfTheHostIsThatOfAllAccounts(service: SinkFormat, body: String, isOwn: Bool) async throws {
        let http = RecordedService(429, headers: [("Retry-After", "30")], body: body)
        let sink = try sink(service, http, bringing: SinkAddress(url: "https://chat.test/own"))
        let result = await sink.deliver(try notification())
        #expect(result.retryAfter == .seconds(30) && result.isOfReceiver == isOwn)
    }

    /// Some services tell of a wrong room or token in the body alone, by the status of a malformed message.
    @Test(
        arguments: [
            (.telegram, #"{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}"#, true),
            (.telegram, #"{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}"#, false),
            (
                .telegram,
                #"{"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1001}}"#,
                true
            ),
            (.telegram, #"{"description":"Bad Request: not enough rights to send text messages to the chat"}"#, true),
            (.telegram, #"{"description":"Bad Request: CHAT_WRITE_FORBIDDEN"}"#, true),
            (.telegram, #"{"description":"Bad Request: have no rights to send a message"}"#, true),
            (.telegram, #"{"description":"Bad Request: Have no write access to the chat"}"#, true),
            (.telegram, #"{"description":"Bad Request: need administrator rights in the channel chat"}"#, true),
            (.telegram, #"{"description":"Bad Request: PEER_ID_INVALID"}"#, true),
            (.telegram, #"{"description":"Bad Request: message thread not found"}"#, true),
            (.telegram, #"{"description":"Bad Request: TOPIC_CLOSED"}"#, true),
            (.pushover, #"{"token":"invalid","errors":["application token is invalid"],"status":0}"#, true),
            (.pushover, #"{"user":"invalid","errors":["user identifier is invalid"],"status":0}"#, true),
            (.mattermost, #"{"id":"web.incoming_webhook.invalid.app_error","status_code":400}"#, true),
            (.mattermost, #"{"id":"web.incoming_webhook.parse.app_error","status_code":400}"#, false),
            (.gotify, #"{"token":"invalid","id":"web.incoming_webhook.invalid"}"#, false),
            (.telegram, "no JSON", false),
            (.discord, #"{"message":"Webhooks posted to forum channels must have a thread","code":220001}"#, true),
            (.discord, #"{"message":"Invalid Form Body","code":50035}"#, false),
        ] as [(SinkFormat, String, Bool)]
    )
    func aMalformedMessageIsToldFromAWrongRoom(service: SinkFormat, body: String, isHeld: Bool) async throws {
        let result = await (try sink(service, RecordedService(400, body: body))).deliver(try notification())
        #expect(result.answer == (isHeld ? .unavailable : .rejected))
        #expect(result.said == Array(body.utf8))
    }

    @Test func aTopicIsThatOfTheConfiguredRoom() async throws {
        let http = RecordedService()
        var sink = try sink(.telegram, http)
        #expect(await sink.deliver(try notification()) == .ok)
        #expect(!http.body.contains("message_thread_id"))
        sink.topic = 42
        #expect(await sink.deliver(try notification()) == .ok)
        let body = http.requests.last?.body ?? []
        #expect(String(decoding: body, as: UTF8.self).contains("\"message_thread_id\":42"))
        // An account brings its own room, with or without a topic in it.
        let account = try #require(DID("did:ethr:0x00000000000000000000000000000000000000aa"))
        #expect(sink.sink(of: account, at: SinkAddress()).topic == 42)
        #expect(sink.sink(of: account, at: SinkAddress(room: "-1")).topic == nil)
        #expect(sink.sink(of: account, at: SinkAddress(room: "-1", topic: "7")).topic == 7)
        let closed = try self.sink(
            .telegram,
            RecordedService(400, body: #"{"description":"Bad Request: TOPIC_CLOSED"}"#)
        )
        #expect(
            await closed.deliver(try notification()).failure?.sentence.contains("room, topic or token_file") == true
        )
    }

    /// The Apprise server says so of a key without services, and sends nothing.
    @Test func aSuccessWithoutContentIsNoneOfApprise() async throws {
        let apprise = await (try sink(.apprise, RecordedService(204))).deliver(try notification())
        #expect(apprise.answer == .unavailable)
        #expect(apprise.failure?.sentence.contains("no service under the key") == true)
        for service in SinkFormat.allCases where service != .apprise {
            #expect(await (try sink(service, RecordedService(204))).deliver(try notification()) == .ok, "\(service)")
        }
    }

    /// Without the parameter Discord tells of no message that it could not save.
    @Test(
        arguments: [
            (.discord, "https://a.test/h", "https://a.test/h?wait=true"),
            (.discord, "https://a.test/h?thread_id=7", "https://a.test/h?thread_id=7&wait=true"),
            (.discord, "https://a.test/h?wait=false&thread_id=7", "https://a.test/h?thread_id=7&wait=true"),
            (.teams, "https://a.test/h?sig=a%2Fb&sv=1.0", "https://a.test/h?sig=a%2Fb&sv=1.0"),
            (.gotify, "https://a.test/g/", "https://a.test/g/message"),
        ] as [(SinkFormat, String, String)]
    )
    func theParametersOfAnAddressStay(service: SinkFormat, address: String, url: String) async throws {
        let http = RecordedService()
        #expect(await (try sink(service, http, url: address)).deliver(try notification()) == .ok)
        #expect(http.requests.map(\.url) == [url])
    }

    @Test func aChangedFileOfTheAddressIsUsedAtOnce() async throws {
        let http = RecordedService()
        let path = try folder.write(" https://chat.test/services/one \n\n", to: "url")
        let sink = RequestSink.chat(
            name: "room",
            service: .slack,
            receiver: ("", nil),
            address: .file(SecretFile(path: path, setting: "url_file", holding: .line)),
            timeout: .seconds(3),
            http: http,
            time: clock
        )
        #expect(await sink.deliver(try notification()) == .ok)
        _ = try folder.write("https://chat.test/services/another", to: "url")
        #expect(await sink.deliver(try notification()) == .ok)
        #expect(http.requests.map(\.url).map { $0.split(separator: "/").last } == ["one", "another"])
        // What check would refuse gets nothing.
        for wrong in ["http://10.0.0.1/services/x", "https://chat.test/other", "no address"] {
            _ = try folder.write(wrong, to: "url")
            let failure = await sink.deliver(try notification()).failure
            #expect(failure?.sentence == "The sink's url_file has no good address; run starwatch check.", "\(wrong)")
        }
        #expect(http.requests.count == 2)
        try FileManager.default.removeItem(atPath: path)
        #expect(await sink.deliver(try notification()).failure?.sentence == "The sink's url_file cannot be read.")
    }
}
