import Foundation
import MetricsTestKit
import StarwatchCore
import StarwatchTestKit
import StarwatchTransport
import Synchronization

@testable import StarwatchPolling

/// The way out without a network: answers as it is told, and remembers what it was asked.
final class ScriptedServer: HTTPTransport {
    struct Reply: Sendable {
        var status = 200
        var headers: [(name: String, value: String)] = []
        var body = "{}"
        var error: APIFailure?

        static func json(_ body: String, headers: [(name: String, value: String)] = []) -> Reply {
            Reply(headers: headers, body: body)
        }
        static func status(_ status: Int, headers: [(name: String, value: String)] = []) -> Reply {
            Reply(status: status, headers: headers, body: "")
        }
        static func fails(_ error: APIFailure) -> Reply { Reply(error: error) }
    }

    private struct State {
        var replies: [Reply] = []
        var otherwise = Reply()
        var requests: [HTTPRequest] = []
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let clock: ManualClock
    private let state = Mutex(State())
    private let asked = Count()
    /// Number of cancelled requests.
    let cancelled = Count()

    init(_ clock: ManualClock) {
        self.clock = clock
    }

    var requests: [HTTPRequest] { state.withLock(\.requests) }

    /// The next answers, one each.
    func script(_ replies: Reply...) { state.withLock { $0.replies += replies } }
    /// Every answer that is not scripted.
    func answer(_ reply: Reply) { state.withLock { $0.otherwise = reply } }

    /// Keeps requests without an answer until ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns as soon as so many requests were made.
    func requests(atLeast count: Int) async { await asked.reached(count) }

    func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        let (reply, isHeld) = state.withLock { state in
            state.requests.append(request)
            return (state.replies.isEmpty ? state.otherwise : state.replies.removeFirst(), state.isHeld)
        }
        asked.add()
        if isHeld { await wait() }
        let reading = ClockReading(wall: clock.now, monotonic: clock.monotonic)
        let measurements = HTTPMeasurements(sentAt: reading, receivedAt: reading)
        if Task.isCancelled {
            cancelled.add()
            return HTTPExchange(result: .failure(.cancelled), measurements: measurements)
        }
        if let error = reply.error { return HTTPExchange(result: .failure(error), measurements: measurements) }
        let response = HTTPResponse(
            status: reply.status,
            headers: HTTPHeaders(reply.headers),
            body: Array(reply.body.utf8)
        )
        return HTTPExchange(result: .success(response), measurements: measurements, status: reply.status)
    }

    private func wait() async {
        let signal = Signal()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withCheckedContinuation { continuation in
                    let isFree = self.state.withLock { state in
                        if !state.isHeld { return true }
                        state.held.append(continuation)
                        return false
                    }
                    if isFree { continuation.resume() }
                }
                signal.raise()
            }
            await signal.wait()
            // Cancelled before the answer: let the one above go, or the group would wait for it.
            if Task.isCancelled { self.release() }
        }
    }

    func shutdown() {}
}

extension HTTPRequest {
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A feed to poll for that has nothing to do with an Endorser server.
struct ReleaseFeed: Codable, Sendable, Hashable {
    var items: [String]
}

/// A manager, its server, and a clock.
struct HostBench {
    static let server = "https://feeds.example"

    let clock: ManualClock
    let server: ScriptedServer
    let manager: PollManager
    /// Number of tasks that wait for the same request.
    let waiting = Count()
    /// The program's metrics.
    let metrics = TestMetrics()

    init(
        _ mode: ManualClock.Mode = .jumping,
        maxConcurrentPolls: Int = 3,
        requestsPerMinute: Int = 100,
        retry: RetryPolicy? = nil
    ) {
        clock = ManualClock(mode: mode)
        server = ScriptedServer(clock)
        server.answer(.json(#"{"items": []}"#))
        var limits = PollManager.Limits()
        limits.concurrentPolls = maxConcurrentPolls
        limits.requestsPerMinute = requestsPerMinute
        limits.retry = retry
        var hooks = PollManager.Hooks()
        hooks.onJoin = { [waiting] in waiting.set($0) }
        hooks.observer = MetricsFacadeObserver(factory: metrics)
        manager = PollManager(
            http: server,
            store: nil,
            time: clock,
            limits: limits,
            hooks: hooks,
            random: { 0.5 }
        )
    }

    var context: PollingContext { PollingContext(server: Self.server) }
    var request: PollRequest<Never, ReleaseFeed> { PollRequest(endpoint: "/feed.json") }
}
