import Foundation
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// Each sink that asks a service, and what can happen to a notification there. The answers are those that the services
/// document.
@Suite struct SinkTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let sink: @Sendable (RecordedService) throws -> any NotificationSink
        let accepts: @Sendable () -> RecordedService
        let refuses: @Sendable () -> RecordedService
        let fails: @Sendable () -> RecordedService
        /// The answers to a wrong address, receiver or token, and what they mean for the notification.
        let denies: @Sendable () -> [RecordedService]
        let denied: SinkAnswer
        /// The answer to too many requests, and the wait that it asks for.
        let limits: @Sendable () -> RecordedService
        let wait: Duration?
        /// The text of a notification in a request.
        let text: @Sendable (String) throws -> String
        /// The greatest length of the text; `nil` if it is never cut.
        var longest: (length: Int, of: @Sendable (String) -> Int)?

        var testDescription: String { name }
    }

    private static let clock = ManualClock()
    private static let wave = "👩‍👩‍👧‍👦"

    /// - Parameter wait: Seconds.
    private static func chat(
        _ service: SinkFormat,
        ok: (Int, String),
        refused: (Int, String),
        limited: (headers: [(name: String, value: String)], body: String),
        wait: Duration,
        longest: Int,
        _ text: @escaping @Sendable (SinkJSON) -> String?
    ) -> Row {
        Row(
            name: service.rawValue,
            sink: { http in
                RequestSink.chat(
                    name: "room",
                    service: service,
                    receiver: (service.needsRoom ? "!a:chat.test" : "", service.needsToken ? .value("to-ken") : nil),
                    address: .url("https://chat.test/hook"),
                    timeout: .seconds(3),
                    http: http,
                    time: clock
                )
            },
            accepts: { RecordedService(ok.0, body: ok.1) },
            refuses: { RecordedService(refused.0, body: refused.1) },
            fails: { RecordedService(503, body: "<html>busy</html>") },
            denies: { [401, 403, 404].map { RecordedService($0) } },
            denied: .unavailable,
            limits: { RecordedService(429, headers: limited.headers, body: limited.body) },
            wait: wait,
            text: { try #require(text(try SinkJSON(text: $0))) },
            longest: (longest, { $0.utf16.count })
        )
    }

    private static func web(
        _ name: String,
        denied: SinkAnswer = .rejected,
        longest: (length: Int, of: @Sendable (String) -> Int)? = nil,
        text: @escaping @Sendable (SinkJSON) -> String?,
        _ sink: @escaping @Sendable (RecordedService) throws -> any NotificationSink
    ) -> Row {
        Row(
            name: name,
            sink: sink,
            accepts: { RecordedService(200, body: "{}") },
            refuses: { RecordedService(400, body: "no") },
            fails: { RecordedService(500) },
            denies: { [401, 403, 404].map { RecordedService($0) } },
            denied: denied,
            limits: { RecordedService(429, headers: [("Retry-After", "60")]) },
            wait: .seconds(60),
            text: { try #require(text(try SinkJSON(text: $0))) },
            longest: longest
        )
    }

    private static func webhook(_ http: RecordedService, _ template: String? = nil) throws -> RequestSink {
        RequestSink.webhook(
            name: "hook",
            url: "https://chat.test/hook",
            timeout: .seconds(3),
            http: http,
            time: clock,
            template: try template.map { try BodyTemplate(json: Array($0.utf8)) }
        )
    }

    private static let seconds: [(name: String, value: String)] = [("Retry-After", "30")]

    static let rows: [Row] = [
        web("webhook", text: { $0["body"].text }) { try webhook($0) },
        web("body_file", text: { $0["say"].text }) { try webhook($0, #"{"say": "{{title}}: {{body}}"}"#) },
        chat(
            .slack,
            ok: (200, "ok"),
            refused: (400, "invalid_payload"),
            limited: (seconds, "rate_limited"),
            wait: .seconds(30),
            longest: 3000,
            { $0["blocks"][1]["text"]["text"].text }
        ),
        chat(
            .discord,
            ok: (204, ""),
            refused: (400, #"{"embeds":["0"]}"#),
            limited: ([], #"{"message":"You are being rate limited.","retry_after":0.65,"global":false}"#),
            wait: .milliseconds(650),
            longest: 4096,
            { $0["embeds"][0]["description"].text }
        ),
        chat(
            .mattermost,
            ok: (200, "ok"),
            refused: (400, #"{"id":"web.incoming_webhook.parse.app_error"}"#),
            limited: (seconds, ""),
            wait: .seconds(30),
            longest: 12_000,
            { $0["text"].text?.components(separatedBy: "\n\n")[1] }
        ),
        chat(
            .teams,
            ok: (202, ""),
            refused: (400, #"{"error":{"code":"TriggerInputSchemaMismatch"}}"#),
            limited: (seconds, ""),
            wait: .seconds(30),
            longest: 6000,
            { $0["attachments"][0]["content"]["body"][1]["inlines"][0]["text"].text }
        ),
        chat(
            .matrix,
            ok: (200, #"{"event_id":"$a"}"#),
            refused: (413, #"{"errcode":"M_TOO_LARGE"}"#),
            limited: ([], #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2000}"#),
            wait: .seconds(2),
            longest: 6000,
            { json in (json["body"].text?.split(separator: "\n", maxSplits: 1).last).map(String.init) }
        ),
        chat(
            .telegram,
            ok: (200, #"{"ok":true,"result":{}}"#),
            refused: (400, #"{"ok":false,"error_code":400}"#),
            limited: ([], #"{"ok":false,"error_code":429,"parameters":{"retry_after":7}}"#),
            wait: .seconds(7),
            longest: 3000,
            { $0["text"].text?.components(separatedBy: "</b>\n").last }
        ),
        chat(
            .gotify,
            ok: (200, #"{"id":25}"#),
            refused: (400, #"{"error":"Bad Request"}"#),
            limited: (seconds, ""),
            wait: .seconds(30),
            longest: 12_000,
            { $0["message"].text }
        ),
        chat(
            .pushover,
            ok: (200, #"{"status":1}"#),
            refused: (400, #"{"message":"cannot be blank","status":0}"#),
            limited: ([("X-Limit-App-Reset", String(clock.now.wholeSeconds + 90))], ""),
            wait: .seconds(90),
            longest: 1024,
            { $0["message"].text }
        ),
        chat(
            .apprise,
            ok: (200, "{}"),
            refused: (424, #"{"error":"not delivered"}"#),
            limited: (seconds, ""),
            wait: .seconds(30),
            longest: 12_000,
            // The link is below it.
            { $0["body"].text?.components(separatedBy: "\n\n").first }
        ),
        web(
            "ntfy",
            denied: .unavailable,
            longest: (4096, { $0.utf8.count }),
            text: { $0["message"].text }
        ) { http in
            RequestSink.ntfy(name: "phone", url: "https://ntfy.test", topic: "t", http: http, time: clock)
        },
        Row(
            name: "email",
            sink: { http in
                let kind = SinkOptions.Kind.email(
                    url: "smtps://mail.test",
                    from: "a@example.org",
                    to: ["me@example.org"]
                )
                return try Starwatch.MailSink(SinkOptions(name: "mail", kind: kind), password: nil, http: http)
            },
            accepts: { RecordedService(reply: "250 2.0.0 Ok: queued as 4ZtR7x") },
            refuses: { RecordedService(reply: "550 5.7.1 Message rejected") },
            fails: { RecordedService(reply: "451 4.3.0 Temporary lookup failure") },
            denies: { [RecordedService(reply: "535 5.7.8 Authentication failed")] },
            denied: .unavailable,
            limits: { RecordedService(reply: "421 4.7.0 Too many messages") },
            wait: nil,
            text: { mail in
                let part = mail.components(separatedBy: "--=_starwatch")[1].replacing("=\r\n", with: "")
                let encoded = part.replacing(/=([0-9A-F]{2})/) { "%" + $0.1 }
                return try #require(encoded.removingPercentEncoding)
            }
        ),
    ]

    private func notification(_ name: String) throws -> OutgoingNotification {
        let body = name + " has been updated"
        let change = ["jwt_id": "1704067200_abc123_def45678", "plan": "p", "changed_at": "2024-01-01T00:00:00Z"]
        let payload: [String: Any] = [
            "id": "ntf_1", "run_id": "run_1", "poll": "starred_projects", "group": "single",
            "collapse_key": "starred-projects", "count": 1, "title": "Project Update", "body": body, "locale": "en",
            "created_at": "2024-01-01T00:00:00Z", "deep_link": "timesafari://notifications/starred-projects",
            "actions": [String](), "changes": [change],
        ]
        return OutgoingNotification(
            id: "ntf_1",
            runID: "run_1",
            poll: "starred_projects",
            group: .single,
            count: 1,
            text: ("Project Update", body),
            payload: Array(try JSONSerialization.data(withJSONObject: payload))
        )
    }

    /// The request of a delivery that succeeds.
    private func request(of row: Row, _ name: String) async throws -> (request: HTTPRequest, body: String) {
        let service = row.accepts()
        #expect(await (try row.sink(service)).deliver(try notification(name)) == .ok)
        let requests = service.requests
        return (try #require(requests.count == 1 ? requests[0] : nil), service.body)
    }

    @Test(arguments: rows) func itIsDelivered(_ row: Row) async throws {
        let body = try await request(of: row, "Creek").body
        #expect(try row.text(body).contains("Creek has been updated"))
    }

    @Test(arguments: rows) func aFailureOfTheServiceIsRetried(_ row: Row) async throws {
        for service in [row.fails(), RecordedService(.failure(.connect)), RecordedService(.failure(.timeout))] {
            let result = await (try row.sink(service)).deliver(try notification("Creek"))
            #expect(result.answer == .unavailable || result.answer == .timeout, "\(result)")
            #expect(result.retryAfter == nil && result.failure != nil)
        }
    }

    @Test(arguments: rows) func aRefusalIsARejection(_ row: Row) async throws {
        let result = await (try row.sink(row.refuses())).deliver(try notification("Creek"))
        #expect(result.answer == .rejected && result.failure != nil)
    }

    @Test(arguments: rows) func aRefusalOfTheSinkHoldsTheNotificationWhereItMeansTheSink(_ row: Row) async throws {
        for service in row.denies() {
            let result = await (try row.sink(service)).deliver(try notification("Creek"))
            #expect(result.answer == row.denied && result.failure != nil, "\(result)")
        }
    }

    @Test(arguments: rows) func theWaitThatAServiceAsksForIsKept(_ row: Row) async throws {
        let result = await (try row.sink(row.limits())).deliver(try notification("Creek"))
        #expect(result.answer == .unavailable && result.retryAfter == row.wait)
    }

    @Test(arguments: rows) func aTextThatIsTooLongEndsWithAnEllipsisAndWholeCharacters(_ row: Row) async throws {
        let name = String(repeating: Self.wave, count: 5000)
        let text = try row.text(try await request(of: row, name).body)
        guard let longest = row.longest else { return #expect(text.contains(name + " has been updated")) }
        let length = longest.of(text)
        #expect(length <= longest.length && length > longest.length - 30 && text.hasSuffix("…"))
        #expect(text.dropLast().allSatisfy { String($0) == Self.wave })
    }

    @Test(arguments: rows) func charactersOfAllLanguagesArrive(_ row: Row) async throws {
        let name = "Jardín 🌻 \(Self.wave) 名前のない é"
        #expect(try row.text(try await request(of: row, name).body).contains(name))
    }

    /// A name adds no field, no header and no line to a request.
    @Test(arguments: rows) func aNameStaysText(_ row: Row) async throws {
        let name = "a\r\nBcc: evil@example.org\r\n\r\n--=_starwatch\r\n.\r\n\"},\"b\":{\"c\":\"\\\u{0}{{title}}"
        let (hostile, plain) = (try await request(of: row, name), try await request(of: row, "a"))
        #expect(hostile.request.headers.map(\.name) == plain.request.headers.map(\.name))
        #expect(hostile.request.headers.allSatisfy { !$0.value.contains { $0.isNewline } })
        #expect(hostile.request.url == plain.request.url)
        #expect(hostile.request.envelope?.recipients == plain.request.envelope?.recipients)
        func shape(_ body: String) throws -> [String] {
            if let json = try? SinkJSON(text: body) { return json.shape }
            // The fields and the parts of a mail. A line that begins with a space goes on with the field before.
            let lines = body.components(separatedBy: "\r\n").filter { !$0.hasPrefix(" ") }
            let fields = lines.prefix { !$0.isEmpty }.map { String($0.prefix { $0 != ":" }) }
            return fields + lines.filter { $0.hasPrefix("--=_starwatch") }
        }
        #expect(try shape(hostile.body) == shape(plain.body))
    }

    private static func page() throws -> String {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return try String(contentsOf: root.appending(path: "docs/notifications-and-sinks.md"), encoding: .utf8)
    }

    /// The columns of the page's table of statuses: the sinks without a chat's format, chats, and ntfy.
    private static let columns: [[String]] = [
        ["webhook", "body_file"], SinkFormat.allCases.map(\.rawValue), ["ntfy"],
    ]

    @Test func thePageSaysWhatEachStatusMeans() async throws {
        let meanings: [Substring: [SinkAnswer]] = [
            "delivered": [.ok], "waits": [.unavailable, .timeout], "rejected": [.rejected], "off": [.gone],
        ]
        var told: Set<Int> = []
        for line in try Self.page().split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.split(separator: " ") }
            let statuses = (cells.first ?? []).compactMap { Int($0.prefix(while: \.isNumber)) }.filter { $0 >= 200 }
            guard cells.count == 1 + Self.columns.count, !statuses.isEmpty else { continue }
            told.formUnion(statuses)
            for (cell, names) in zip(cells.dropFirst(), Self.columns) {
                let expected = try #require(cell.first.flatMap { meanings[$0.prefix(while: \.isLetter)] }, "\(line)")
                for row in Self.rows where names.contains(row.name) {
                    for status in statuses {
                        let sink = try row.sink(RecordedService(status))
                        let answer = await sink.deliver(try notification("Creek")).answer
                        #expect(expected.contains(answer), "\(row.name): \(status)")
                    }
                }
            }
        }
        #expect(told.isSuperset(of: [200, 299, 301, 400, 401, 403, 404, 408, 410, 413, 422, 425, 429, 500, 599]))
    }

    @Test func thePageHasTheseSinksWithTheirLimits() throws {
        let page = try Self.page()
        for row in Self.rows {
            let line = page.split(separator: "\n").first { $0.hasPrefix("| `\(row.name)` ") && $0.contains("text") }
            let length = row.longest?.length.formatted(.number.locale(Locale(identifier: "en_US"))) ?? "whole"
            #expect(line?.contains(length) == true, "\(row.name): \(length)")
        }
    }
}
