import Foundation
import StarwatchCore
import StarwatchTransport
import Synchronization

@testable import Starwatch

/// An ntfy server in memory, as its source and its documentation have it: publishing as JSON, the bounds of a message,
/// the visitor's bucket of requests, sequences that replace, and a 429 that does not say when to come back.
final class FakeNtfy: HTTPTransport {
    struct Message: Equatable {
        var title: String
        var message: String
        var click: String?
    }

    private struct Publishing: Decodable {
        var topic: String
        var title: String?
        var message: String?
        var click: String?
        var sequence_id: String?
    }

    private struct State {
        /// Messages on a device, by sequence or a generated key.
        var shown: [(key: String, message: Message)] = []
        var published = 0
        var tokens: Double
        var filledAt: Duration
        var answers: [Int] = []
    }

    /// A visitor's requests at once, and how often one is added.
    static let burst = 60.0
    static let refill = Duration.seconds(5)

    private let clock: ManualClock
    private let token: String?
    /// Whether a message that is too long becomes a file.
    private let allowsAttachments: Bool
    private let state: Mutex<State>

    init(clock: ManualClock, token: String? = nil, allowsAttachments: Bool = false) {
        self.clock = clock
        self.token = token
        self.allowsAttachments = allowsAttachments
        state = Mutex(State(tokens: Self.burst, filledAt: clock.monotonic))
    }

    /// Messages on a device that follows the topic.
    var shown: [Message] { state.withLock { $0.shown.map(\.message) } }
    var published: Int { state.withLock(\.published) }
    var answers: [Int] { state.withLock(\.answers) }

    func shutdown() {}

    func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        let (status, code) = answer(request)
        state.withLock { $0.answers.append(status) }
        let body = status == 200 ? "{\"event\":\"message\"}" : "{\"code\":\(code),\"http\":\(status),\"error\":\"…\"}"
        // No Retry-After with anything.
        let response = HTTPResponse(
            status: status,
            headers: HTTPHeaders([("Content-Type", "application/json")]),
            body: Array(body.utf8)
        )
        let now = StarwatchTransport.ClockReading(wall: clock.now, monotonic: clock.monotonic)
        return HTTPExchange(
            result: .success(response),
            measurements: HTTPMeasurements(sentAt: now, receivedAt: now),
            status: status
        )
    }

    private func answer(_ request: HTTPRequest) -> (status: Int, code: Int) {
        let isPlain = request.headers.allSatisfy { $0.value.utf8.allSatisfy { (32...126).contains($0) } }
        guard isPlain, request.method == .post else { return (400, 40000) }
        guard takeToken() else { return (429, 42901) }
        let authorization = request.headers.first { $0.name == "Authorization" }?.value
        if let token, authorization != "Bearer \(token)" { return authorization == nil ? (403, 40301) : (401, 40101) }
        guard URL(string: request.url)?.path == "/" else { return (404, 40401) }
        let body = request.body ?? []
        guard body.count <= 8192 else { return (413, 41303) }
        guard let message = try? JSONDecoder().decode(Publishing.self, from: Data(body)) else { return (400, 40017) }
        guard message.topic.wholeMatch(of: /[-_A-Za-z0-9]{1,64}/) != nil else { return (400, 40009) }
        if let sequence = message.sequence_id, sequence.wholeMatch(of: /[-_A-Za-z0-9]{1,64}/) == nil {
            return (400, 40049)
        }
        var text = message.message ?? "triggered"
        if text.utf8.count > 4096 {
            guard allowsAttachments else { return (400, 40014) }
            text = "You received a file: attachment.txt"
        }
        state.withLock { state in
            state.published += 1
            let key = message.sequence_id ?? "#\(state.published)"
            state.shown.removeAll { $0.key == key }
            state.shown.append((key, Message(title: message.title ?? "", message: text, click: message.click)))
        }
        return (200, 0)
    }

    private func takeToken() -> Bool {
        let now = clock.monotonic
        return state.withLock { state in
            let gained = (now - state.filledAt).inSeconds / Self.refill.inSeconds
            state.tokens = min(Self.burst, state.tokens + gained)
            state.filledAt = now
            guard state.tokens >= 1 else { return false }
            state.tokens -= 1
            return true
        }
    }
}
