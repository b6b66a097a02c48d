import StarwatchCore
import StarwatchTransport
import Synchronization

/// A service of a sink. It keeps the requests and gives each the same answer.
final class RecordedService: HTTPTransport {
    private let seen = Mutex<[HTTPRequest]>([])
    private let answer: HTTPExchange

    /// - Parameter lastReply: What a mail server said before the end.
    init(_ result: Result<HTTPResponse, APIFailure>, status: Int? = nil, lastReply: String = "") {
        let now = ClockReading(wall: Timestamp(milliseconds: 0), monotonic: .zero)
        let measurements = HTTPMeasurements(sentAt: now, receivedAt: now)
        answer = HTTPExchange(
            result: result,
            measurements: measurements,
            status: status ?? (try? result.get().status),
            lastReply: Array(lastReply.utf8)
        )
    }

    /// A web service.
    convenience init(_ status: Int = 200, headers: [(name: String, value: String)] = [], body: String = "") {
        self.init(.success(HTTPResponse(status: status, headers: HTTPHeaders(headers), body: Array(body.utf8))))
    }

    /// A mail server.
    convenience init(reply: String) {
        let status = Int(reply.prefix(3)) ?? 0
        self.init(.success(HTTPResponse(status: status, headers: HTTPHeaders(block: []), body: Array(reply.utf8))))
    }

    func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        seen.withLock { $0.append(request) }
        return answer
    }

    func shutdown() {}

    var requests: [HTTPRequest] { seen.withLock { $0 } }

    /// The body of the first request, as text.
    var body: String { String(decoding: requests.first?.body ?? [], as: UTF8.self) }
}
