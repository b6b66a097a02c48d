import StarwatchCore
import Synchronization

import struct StarwatchStore.FeedRow
import enum StarwatchStore.StoreError

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
        var feed: [FeedRow] = []
        /// Who follows is told that it is over.
        var feedIsOver = false
    }

    private let state = Mutex(State())
    let pollBegan = AsyncStream<Void>.makeStream()
    let clock = ManualClock()
    let readerEnded = AsyncStream<Void>.makeStream()
    private let readers = Mutex<[FeedReader]>([])

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

    func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport {
        try note("run \(name)" + (unlessWithin.map { " unless within \($0)" } ?? ""))
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

    func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport {
        try note("remove identity")
        return IdentityRemovalReport(keptUntil: "2026-01-31T00:00:00.000Z")
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

    func digests() async throws(ControlError) -> [DigestReport] {
        try note("digests")
        return []
    }

    func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport {
        try note("fetch digest \(name)")
        return DigestFetchReport(digest: name, outcome: .notModified, contentAt: "2026-01-01T12:00:00.000Z")
    }

    func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport {
        try note("show digest \(name)")
        return DigestShowReport(digest: name, notificationID: "ntf_1", text: "fallback", state: "delivered")
    }

    func reload() async throws(ControlError) { try note("reload") }

    func feed(_ query: FeedQuery) async throws(ControlError) -> [FeedEntry] {
        var call = "feed limit \(query.limit)"
        if let before = query.before { call += " before \(before)" }
        try note(call)
        return [Self.notification(2), Self.notification(1)]
    }

    func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader {
        try note("follow \(sequence.map(String.init) ?? "from now on")")
        let reader = FeedReader(
            after: sequence ?? 0,
            heartbeat: Starwatch.Feed.heartbeat,
            time: clock,
            read: { after, limit throws(StoreError) in
                Array(self.now.feed.filter { $0.sequence > after }.prefix(limit))
            },
            onEnd: { _ in self.readerEnded.continuation.yield() }
        )
        if now.feedIsOver { reader.end() }
        readers.withLock { $0.append(reader) }
        return reader
    }

    /// Adds to the feed, and wakes whoever follows.
    func feed(_ rows: FeedRow...) {
        state.withLock { $0.feed += rows }
        for reader in readers.withLock({ $0 }) { reader.wake() }
    }

    static func notification(_ sequence: Int64, name: String? = "Creek <Cleanup>") -> FeedEntry {
        let change = Change(
            id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_000_000 + sequence)),
            plan: "p/1",
            name: name
        )
        let message = NotificationMessage(
            id: "ntf_\(sequence)",
            runID: "run_1",
            poll: PollName("starred_projects")!,
            kind: .starredProjects,
            changes: sequence == 1 ? [change] : Array(repeating: change, count: 7),
            context: NotificationContext(largestGroup: 5),
            createdAt: Timestamp(seconds: 3000)
        )
        return FeedEntry(sequence: sequence, storedAt: "1970-01-01T00:50:00.000Z", notification: message)
    }

    static func sent(_ id: String) -> NotificationEntry {
        NotificationEntry(
            row: 7,
            id: id,
            poll: "starred_projects",
            state: "delivered",
            group: "single",
            count: 1,
            title: "Project Update",
            body: "Garden has been updated",
            createdAt: "2026-01-01T12:00:00.000Z",
            offers: ["view_project"],
            actions: []
        )
    }

    func notificationList(_ query: NotificationQuery) async throws(ControlError) -> [NotificationEntry] {
        try note("notifications before \(query.before ?? 0) limit \(query.limit)")
        return [Self.sent("ntf_1")]
    }

    func notificationShow(_ id: String) async throws(ControlError) -> NotificationEntry {
        try note("notification \(id)")
        return Self.sent(id)
    }

    func notificationAct(_ id: String, _ action: NotificationAction) async throws(ControlError) -> ActionReport {
        try note("\(action.rawValue) \(id)")
        return ActionReport(notificationID: id, action: action, doneAt: "2026-01-01T12:00:00.000Z", already: false)
    }

    func shortlinkShow(_ shortlink: Shortlink) async throws(ControlError) -> ShortlinkReport {
        try note("shortlink \(shortlink.rawValue)")
        return ShortlinkReport(
            poll: "starred_projects",
            expiresAt: "2026-01-02T12:00:00.000Z",
            changes: [.init(jwtID: "01J", plan: "plan")]
        )
    }
}
