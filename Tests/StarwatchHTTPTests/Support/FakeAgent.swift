import StarwatchCore
import Synchronization

import struct StarwatchStore.FeedRow
import enum StarwatchStore.StoreError

@testable import Starwatch

/// An agent that records every call and answers it with a sample.
final class FakeAgent: ServedAgent {
    struct State: Sendable {
        var status = AgentStatus(version: "1.0.0", startedAt: .init(seconds: 0), now: .init(seconds: 3600))
        var metrics = MetricsAnswer(status: 200, contentType: "text/plain", body: [])
        var notReady: [String] = []
        var databaseCheck: String?
        var isHealthy = true
        /// Thrown by every recorded call.
        var failure: ControlError?
        var did: DID?
        var stars: [String] = []
        var queries: [MetricsQuery] = []
        var calls: [String] = []
        var refusals: [ControlRefusal] = []
        var news: [WebConfigurationNews] = []
        /// A cycle waits until its task is cancelled.
        var pollHangs = false
        var feed: [FeedRow] = []
        /// A stream of the feed ends at once.
        var feedIsOver = false
    }

    private let state = Mutex(State())
    let pollBegan = AsyncStream<Void>.makeStream()
    let readerEnded = AsyncStream<Void>.makeStream()
    private let readers = Mutex<[FeedReader]>([])

    init(_ change: (inout State) -> Void = { _ in }) { state.withLock { change(&$0) } }

    var now: State { state.withLock { $0 } }

    /// Records a call, then fails or makes the answer.
    private func record<Answer>(
        _ call: String,
        _ answer: (inout State) -> Answer
    ) throws(ControlError) -> Answer {
        let failure = state.withLock { state in
            state.calls.append(call)
            return state.failure
        }
        if let failure { throw failure }
        return state.withLock { answer(&$0) }
    }

    private func record(_ call: String) throws(ControlError) { try record(call) { _ in } }

    // MARK: - Reading

    func status() async -> AgentStatus { now.status }
    func notReady() async -> [String] { now.notReady }
    var databaseCheck: String? { now.databaseCheck }
    func isHealthy() async -> Bool { now.isHealthy }

    func noteRefusal(_ reason: ControlRefusal, at port: ServedPort) { state.withLock { $0.refusals.append(reason) } }
    func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort) {
        state.withLock { $0.news.append(news) }
    }

    func metrics(_ request: MetricsQuery) async -> MetricsAnswer {
        state.withLock { state in
            state.queries.append(request)
            return state.metrics
        }
    }

    // MARK: - Verbs

    func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport {
        try record("run \(name)" + (unlessWithin.map { " unless within \($0)" } ?? ""))
        pollBegan.continuation.yield()
        if now.pollHangs { for await _ in AsyncStream<Void>.makeStream().stream {} }
        return Sample.report(of: name)
    }

    func tryPoll(_ name: String) async throws(ControlError) -> PollReport {
        try record("try \(name)") { _ in Sample.report(of: name) }
    }

    func reload() async throws(ControlError) { try record("reload") }

    func clearServerWait() async throws(ControlError) -> ServerWaitReport {
        try record("clear wait") { _ in ServerWaitReport(waitedUntil: "2026-01-08T12:00:00.000Z") }
    }

    func testSink(_ name: String) async throws(ControlError) -> SinkTestReport {
        try record("testSink \(name)") { _ in
            SinkTestReport(sink: name, notificationID: "ntf_1", result: .ok, tookMilliseconds: 12)
        }
    }

    func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry] {
        var call = "list \(query.state ?? "all")"
        if let poll = query.poll { call += " of \(poll)" }
        if let before = query.before { call += " before \(before)" }
        if query.limit != OutboxEntry.listLimit { call += " limit \(query.limit)" }
        return try record(call) { _ in [Sample.entry(1), Sample.entry(2)] }
    }

    func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry {
        try record("show \(id)") { _ in Sample.entry(id) }
    }

    func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int { try record("retry \(ids)") { _ in ids.count } }

    func outboxRetryAll(poll: String?) async throws(ControlError) -> Int {
        try record("retry all of \(poll ?? "every poll")") { _ in 5 }
    }

    func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try record("discard \(ids)") { _ in ids.count }
    }

    func outboxDiscardAll(poll: String?, in state: DiscardableState) async throws(ControlError) -> Int {
        try record("discard all \(state.rawValue) of \(poll ?? "every poll")") { _ in 6 }
    }

    func quarantineList(_ query: QuarantineQuery) async throws(ControlError) -> [QuarantineEntry] {
        let call = "quarantine of \(query.poll ?? "every poll") before \(query.before ?? 0) limit \(query.limit)"
        return try record(call) { _ in [Sample.quarantined(3)] }
    }

    func quarantineDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try record("hide \(ids)") { _ in ids.count }
    }

    func quarantineDiscardAll(poll: String?) async throws(ControlError) -> Int {
        try record("hide all of \(poll ?? "every poll")") { _ in 2 }
    }

    func identity() async throws(ControlError) -> IdentityReport {
        try record("identity") { IdentityReport(did: $0.did?.rawValue, generation: 1, pseudonym: nil) }
    }

    func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try record("set identity") { state in
            state.did = did
            return IdentityReport(did: did?.rawValue, generation: 2, pseudonym: nil)
        }
    }

    func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport {
        try record("remove identity") { _ in IdentityRemovalReport(keptUntil: "2026-01-31T00:00:00.000Z") }
    }

    func eraseIdentity(_ did: DID) async throws(ControlError) -> IdentityErasureReport {
        try record("erase identity") { _ in IdentityErasureReport() }
    }

    func keys() async throws(ControlError) -> KeysReport { try record("keys") { _ in .example } }

    func rotateDataKeys() async throws(ControlError) -> KeysReport { try record("rotate keys") { _ in .example } }

    func changeMasterKey(to text: String) async throws(ControlError) -> KeysReport {
        try record("master key") { _ in .example }
    }

    func importSigningKey(_ key: SigningKeyImport) async throws(ControlError) -> SigningKeyReport {
        try record("import key \(key.kid ?? "")") { _ in .example }
    }

    func rotateSigningKey(_ rotation: SigningKeyRotation) async throws(ControlError) -> SigningKeyReport {
        try record("rotate signing key") { _ in .example }
    }

    func revokeSigningKey(_ revocation: SigningKeyRevocation) async throws(ControlError) -> SigningKeyReport {
        try record("revoke \(revocation.kid)") { _ in .example }
    }

    func verifyKeys() async throws(ControlError) -> KeyVerification {
        try record("verify keys") { _ in KeyVerification(opened: 120, failed: 0, faults: []) }
    }

    func starsListing() async throws(ControlError) -> StarsListing {
        try record("stars") { StarsListing(planIDs: $0.stars, names: ["a": "A"]) }
    }

    func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try record("stars \(change.operation.rawValue)") { state in
            state.stars += change.planIDs
            return state.stars
        }
    }

    func archivedStars() async throws(ControlError) -> [ArchivedStarsReport] {
        try record("archived stars") { _ in [Sample.archive] }
    }

    func digests() async throws(ControlError) -> [DigestReport] { try record("digests") { _ in [] } }

    func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport {
        try record("fetch digest \(name)") { _ in
            DigestFetchReport(digest: name, outcome: .notModified, contentAt: Sample.time)
        }
    }

    func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport {
        try record("show digest \(name)") { _ in
            DigestShowReport(digest: name, notificationID: "ntf_1", text: "fallback", state: "delivered")
        }
    }

    func notificationList(_ query: NotificationQuery) async throws(ControlError) -> [NotificationEntry] {
        try record("notifications before \(query.before ?? 0) limit \(query.limit)") { _ in [Sample.sent("ntf_1")] }
    }

    func notificationShow(_ id: String) async throws(ControlError) -> NotificationEntry {
        try record("notification \(id)") { _ in Sample.sent(id) }
    }

    func notificationAct(_ id: String, _ action: NotificationAction) async throws(ControlError) -> ActionReport {
        try record("\(action.rawValue) \(id)") { _ in
            ActionReport(notificationID: id, action: action, doneAt: Sample.time, already: false)
        }
    }

    func shortlinkShow(_ shortlink: Shortlink) async throws(ControlError) -> ShortlinkReport {
        try record("shortlink \(shortlink.rawValue)") { _ in Sample.shortlink }
    }

    func explain(_ id: String) async throws(ControlError) -> Story {
        try record("explain \(id)") { _ in Sample.story(id) }
    }

    func logs(_ query: LogQuery) async throws(ControlError) -> [LogLine] {
        let fields = [
            query.since.map { "since \($0)" }, query.level.map { "level \($0.rawValue)" },
            query.run.map { "run \($0)" }, query.after.map { "after \($0)" }, "limit \(query.limit)",
        ]
        return try record("logs " + fields.compactMap(\.self).joined(separator: " ")) { _ in [Sample.line] }
    }

    // MARK: - Feed

    func feed(_ query: NotificationQuery) async throws(ControlError) -> [FeedEntry] {
        let call = "feed limit \(query.limit)" + (query.before.map { " before \($0)" } ?? "")
        return try record(call) { _ in [Sample.notification(2), Sample.notification(1)] }
    }

    func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader {
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

extension KeysReport {
    fileprivate static let example = KeysReport(
        isEncrypted: true,
        masterKey: MasterKey(id: "0123456789abcdef", since: "2026-01-01T00:00:00.000Z"),
        dataKeys: [
            DataKey(id: 3, account: nil, state: .active, uses: 65_536, createdAt: "2026-01-01T00:00:00.000Z")
        ],
        signingKeys: [.example]
    )
}

extension KeysReport.SigningKey {
    fileprivate static let example = KeysReport.SigningKey(
        kid: "5f0c1d2e3a4b",
        algorithm: .hs256,
        state: .active,
        account: "did:hash:0123456789abcdef",
        createdAt: "2026-01-01T00:00:00.000Z"
    )
}

extension SigningKeyReport {
    fileprivate static let example = SigningKeyReport(key: .example, retiring: [], isUsed: true)
}
