import NIOCore
import NIOPosix
import StarwatchCore
import Synchronization

import struct StarwatchStore.FeedRow
import enum StarwatchStore.StoreError

@testable import Starwatch
@testable import StarwatchHTTP

/// An agent that records every call and answers it with a sample.
final class FakeAgent: ServedAgent {
    struct State: Sendable {
        var status = AgentStatus(version: "1.0.0", startedAt: .init(seconds: 0), now: .init(seconds: 3600))
        var metrics = MetricsAnswer(status: 200, contentType: "text/plain", body: [])
        var notReady: [String] = []
        /// The event loops on which the readiness was asked for; `nil` for another thread.
        var loops: [ObjectIdentifier?] = []
        var databaseCheck: String?
        var isHealthy = true
        /// Thrown by every recorded call.
        var failure: ControlError?
        var did: DID?
        var stars: [String] = []
        var queries: [MetricsQuery] = []
        var calls: [String] = []
        var callers: [Operator] = []
        var refusals: [ControlRefusal] = []
        var refused: [String?] = []
        var news: [WebConfigurationNews] = []
        /// A cycle waits until its task is cancelled.
        var pollHangs = false
        var feed: [FeedRow] = []
        /// The tokens in the addresses of many accounts' feeds.
        var feedTokens: [String: DID] = [:]
        /// The number of tokens that were looked up.
        var lookups = 0
        /// A stream of the feed ends at once.
        var feedIsOver = false
    }

    private let state = Mutex(State())
    let pollBegan = AsyncStream<Void>.makeStream()
    let readerEnded = AsyncStream<Void>.makeStream()
    private let readers = Mutex<[FeedReader]>([])

    init(_ change: (inout State) -> Void = { _ in }) { state.withLock { change(&$0) } }

    var now: State { state.withLock { $0 } }

    func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input,
        for caller: Operator
    ) async throws(ControlError) -> Answer {
        state.withLock { $0.callers.append(caller) }
        return try await perform(verb, input)
    }

    /// Records a call, as the client would send it, then fails or makes the answer.
    func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input
    ) async throws(ControlError) -> Answer {
        if let status = now.status as? Answer { return status }
        // The look of the status page at the last events.
        if input as? LogQuery == StatusPage.eventQuery, let none = LogListing(lines: []) as? Answer { return none }
        let request: ControlRequest
        do { request = try verb.form.write(input) } catch { throw ControlError(error) }
        let body = request.body.isEmpty ? "" : " " + String(decoding: request.body, as: UTF8.self)
        try record("\(verb.method) \(request.target(verb.path))\(body)")
        if verb.path == ControlAPI.runPoll.path {
            pollBegan.continuation.yield()
            if now.pollHangs { for await _ in AsyncStream<Void>.makeStream().stream {} }
        }
        let answer = state.withLock { Sample.answer(Answer.self, to: input, &$0) }
        guard let answer = answer as? Answer else { throw ControlError(.failed, "No sample is a \(Answer.self).") }
        return answer
    }

    private func record(_ call: String) throws(ControlError) {
        let failure = state.withLock { state in
            state.calls.append(call)
            return state.failure
        }
        if let failure { throw failure }
    }

    // MARK: - Reading

    func notReady() async -> [String] {
        state.withLock { state in
            state.loops.append(MultiThreadedEventLoopGroup.currentEventLoop.map { ObjectIdentifier($0) })
            return state.notReady
        }
    }
    var databaseCheck: String? { now.databaseCheck }
    func isHealthy() async -> Bool { now.isHealthy }

    func noteRefusal(_ reason: ControlRefusal, at port: ServedPort, of client: String?) {
        state.withLock { state in
            state.refusals.append(reason)
            state.refused.append(client)
        }
    }
    func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort) {
        state.withLock { $0.news.append(news) }
    }

    func metrics(_ request: MetricsQuery) async -> MetricsAnswer {
        state.withLock { state in
            state.queries.append(request)
            return state.metrics
        }
    }

    // MARK: - Feed

    func feedKey(for token: String) async throws(ControlError) -> FeedKey? {
        state.withLock { state in
            state.lookups += 1
            return state.feedTokens[token].map { FeedKey(token: token, account: $0) }
        }
    }

    func followFeed(after sequence: Int64?, for caller: Operator) async throws(ControlError) -> FeedReader {
        state.withLock { $0.callers.append(caller) }
        try record("follow \(sequence.map(String.init) ?? "from now on")")
        let reader = FeedReader(
            after: sequence ?? 0,
            heartbeat: Starwatch.Feed.heartbeat,
            time: StillClock(),
            read: { after, limit throws(StoreError) in
                Array(self.now.feed.filter { $0.sequence > after }.prefix(limit))
            },
            onEnd: { _ in self.readerEnded.continuation.yield() }
        )
        if now.feedIsOver { reader.end() }
        readers.withLock { $0.append(reader) }
        return reader
    }

    /// Adds to the feed and wakes its readers.
    func feed(_ rows: FeedRow...) {
        state.withLock { $0.feed += rows }
        for reader in readers.withLock({ $0 }) { reader.wake() }
    }
}

/// A clock that stands still. A sleep ends only with its task.
private struct StillClock: TimeSource {
    var now: Timestamp { Timestamp(seconds: 1_767_225_600) }
    var monotonic: Duration { .zero }
    var boottime: Duration { .zero }

    func sleep(for duration: Duration) async throws {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw CancellationError()
    }
}
