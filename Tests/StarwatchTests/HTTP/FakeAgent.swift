import StarwatchCore
import Synchronization

@testable import Starwatch

/// An agent that answers what it was told to and writes down what it was asked.
final class FakeAgent: AgentControl {
    struct State: Sendable {
        var status = AgentStatus(version: "1.0.0", startedAt: .init(seconds: 0), now: .init(seconds: 3600))
        var metrics = MetricsAnswer(status: 200, contentType: "text/plain", contentEncoding: nil, body: [])
        var notReady: [String] = []
        var isHealthy = true
        var failure: ControlError?
        var did: DID?
        var stars: [String] = []
        var queries: [MetricsQuery] = []
        var calls: [String] = []
        /// A poll that is run waits until its task is cancelled.
        var pollHangs = false
    }

    private let state = Mutex(State())
    let pollBegan = AsyncStream<Void>.makeStream()

    init(_ change: (inout State) -> Void = { _ in }) { state.withLock { change(&$0) } }

    var now: State { state.withLock { $0 } }

    private func note(_ call: String) throws(ControlError) {
        let failure = state.withLock { state in
            state.calls.append(call)
            return state.failure
        }
        if let failure { throw failure }
    }

    func metrics(_ request: MetricsQuery) async -> MetricsAnswer {
        state.withLock { state in
            state.queries.append(request)
            return state.metrics
        }
    }

    func status() async -> AgentStatus { now.status }
    func notReady() async -> [String] { now.notReady }
    func isHealthy() async -> Bool { now.isHealthy }

    func runPoll(_ name: String) async throws(ControlError) -> PollReport {
        try note("run \(name)")
        pollBegan.continuation.yield()
        if now.pollHangs { for await _ in AsyncStream<Void>.makeStream().stream {} }
        var report = PollReport(poll: name, outcome: "changed", runID: "run-1")
        report.fetched = 3
        report.watermarkMoved = true
        return report
    }

    static func entry(_ id: Int64) -> OutboxEntry {
        OutboxEntry(
            id: id,
            poll: "starred_projects",
            state: .dead,
            jwtID: "01J",
            plan: "plan",
            name: nil,
            attempts: 3,
            createdAt: "2026-01-01T12:00:00.000Z",
            notificationID: "ntf_1"
        )
    }

    func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry] {
        var call = "list \(query.state ?? "all")"
        if let poll = query.poll { call += " of \(poll)" }
        if let before = query.before { call += " before \(before)" }
        if query.limit != OutboxEntry.listLimit { call += " limit \(query.limit)" }
        try note(call)
        return [Self.entry(1), Self.entry(2)]
    }

    func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry {
        try note("show \(id)")
        return Self.entry(id)
    }

    func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int {
        try note("retry \(ids)")
        return ids.count
    }

    func outboxRetryAll(poll: String?) async throws(ControlError) -> Int {
        try note("retry all of \(poll ?? "every poll")")
        return 5
    }

    func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try note("discard \(ids)")
        return ids.count
    }

    func outboxDiscardAll(poll: String?) async throws(ControlError) -> Int {
        try note("discard all of \(poll ?? "every poll")")
        return 6
    }

    func identity() async throws(ControlError) -> IdentityReport {
        try note("identity")
        return IdentityReport(did: now.did?.rawValue, generation: 1, pseudonym: nil)
    }

    func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try note("set identity")
        state.withLock { $0.did = did }
        return IdentityReport(did: did?.rawValue, generation: 2, pseudonym: nil)
    }

    func stars() async throws(ControlError) -> [String] {
        try note("stars")
        return now.stars
    }

    func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try note("stars \(change.operation.rawValue)")
        return state.withLock { state in
            state.stars += change.planIDs
            return state.stars
        }
    }

    func archivedStars() async throws(ControlError) -> [ArchivedStarsReport] {
        try note("archived stars")
        return [ArchivedStarsReport(archivedAt: "2026-01-01T12:00:00.000Z", planIDs: ["p/1"])]
    }

    func reload() async throws(ControlError) { try note("reload") }
}
