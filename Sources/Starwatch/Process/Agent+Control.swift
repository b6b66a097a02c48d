package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry

/// The verbs of the control API. Each topic does its own; here they are counted.
extension Agent {
    package func status() async -> AgentStatus { await topics.status.status() }

    package func runPoll(_ name: String, unlessWithin: Duration? = nil) async throws(ControlError) -> PollReport {
        try await counted(.pollRun) { try await topics.polls.run(name, unlessWithin: unlessWithin) }
    }

    package func tryPoll(_ name: String) async throws(ControlError) -> PollReport {
        try await counted(.read) { try await topics.polls.trial(name) }
    }

    package func clearServerWait() async throws(ControlError) -> ServerWaitReport {
        try await counted(.serverClearWait) { try await topics.polls.clearServerWait() }
    }

    package func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry] {
        try await counted(.read) { try await topics.outbox.list(query) }
    }

    package func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry {
        try await counted(.read) { try await topics.outbox.show(id) }
    }

    package func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.outboxRetry) { try await topics.outbox.retry(ids) }
    }

    package func outboxRetryAll(poll: String?) async throws(ControlError) -> Int {
        try await counted(.outboxRetry) { try await topics.outbox.retryAll(poll: poll) }
    }

    package func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.outboxDiscard) { try await topics.outbox.discard(ids) }
    }

    package func outboxDiscardAll(poll: String?, in state: DiscardableState) async throws(ControlError) -> Int {
        try await counted(.outboxDiscard) { try await topics.outbox.discardAll(poll: poll, in: state) }
    }

    package func quarantineList(_ query: QuarantineQuery) async throws(ControlError) -> [QuarantineEntry] {
        try await counted(.read) { try await topics.quarantine.list(query) }
    }

    package func quarantineDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.quarantineDiscard) { try await topics.quarantine.discard(ids) }
    }

    package func quarantineDiscardAll(poll: String?) async throws(ControlError) -> Int {
        try await counted(.quarantineDiscard) { try await topics.quarantine.discardAll(poll: poll) }
    }

    package func identity() async throws(ControlError) -> IdentityReport {
        try await counted(.read) { try await topics.identity.current() }
    }

    package func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try await counted(.identitySet) { try await topics.identity.set(did) }
    }

    package func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport {
        try await counted(.identityRemove) { try await topics.identity.remove(did) }
    }

    package func eraseIdentity(_ did: DID) async throws(ControlError) -> IdentityErasureReport {
        try await counted(.identityErase) { try await topics.identity.erase(did) }
    }

    package func starsListing() async throws(ControlError) -> StarsListing {
        try await counted(.read) { try await topics.stars.listing() }
    }

    package func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try await counted(.starsChange) { try await topics.stars.change(change) }
    }

    package func archivedStars() async throws(ControlError) -> [ArchivedStarsReport] {
        try await counted(.read) { try await topics.stars.archived() }
    }

    package func keys() async throws(ControlError) -> KeysReport {
        try await counted(.read) { try await topics.keys.report() }
    }

    package func rotateDataKeys() async throws(ControlError) -> KeysReport {
        try await counted(.keysRotate) { try await topics.keys.rotateDataKeys() }
    }

    package func changeMasterKey(to text: String) async throws(ControlError) -> KeysReport {
        try await counted(.keysRotate) { try await topics.keys.changeMasterKey(to: text) }
    }

    package func verifyKeys() async throws(ControlError) -> KeyVerification {
        try await counted(.read) { try await topics.keys.verify() }
    }

    package func importSigningKey(_ key: SigningKeyImport) async throws(ControlError) -> SigningKeyReport {
        try await counted(.keysRotate) { try await topics.signingKeys.importKey(key) }
    }

    package func rotateSigningKey(_ rotation: SigningKeyRotation) async throws(ControlError) -> SigningKeyReport {
        try await counted(.keysRotate) { try await topics.signingKeys.rotate(rotation) }
    }

    package func revokeSigningKey(_ revocation: SigningKeyRevocation) async throws(ControlError) -> SigningKeyReport {
        try await counted(.keysRotate) { try await topics.signingKeys.revoke(revocation) }
    }

    package func digests() async throws(ControlError) -> [DigestReport] {
        try await counted(.read) { try await topics.digests.list() }
    }

    package func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport {
        try await counted(.digestsFetch) { try await topics.digests.fetch(name) }
    }

    package func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport {
        try await counted(.digestsShow) { try await topics.digests.show(name) }
    }

    package func testSink(_ name: String) async throws(ControlError) -> SinkTestReport {
        try await counted(.sinkTest) { try await topics.sinks.test(name) }
    }

    package func feed(_ query: NotificationQuery) async throws(ControlError) -> [FeedEntry] {
        try await counted(.read) { try await topics.notifications.feed(query) }
    }

    package func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader {
        try await counted(.notificationsFollow) { try await topics.notifications.followFeed(after: sequence) }
    }

    package func notificationList(_ query: NotificationQuery) async throws(ControlError) -> [NotificationEntry] {
        try await counted(.read) { try await topics.notifications.list(query) }
    }

    package func notificationShow(_ id: String) async throws(ControlError) -> NotificationEntry {
        try await counted(.read) { try await topics.notifications.show(id) }
    }

    package func notificationAct(_ id: String, _ action: NotificationAction) async throws(ControlError) -> ActionReport
    {
        try await counted(.notificationsAct) { try await topics.notifications.act(id, action) }
    }

    package func shortlinkShow(_ shortlink: Shortlink) async throws(ControlError) -> ShortlinkReport {
        try await counted(.read) { try await topics.notifications.shortlink(shortlink) }
    }

    package func explain(_ id: String) async throws(ControlError) -> Story {
        try await counted(.read) { try await topics.stories.explain(id) }
    }

    package func logs(_ query: LogQuery) async throws(ControlError) -> [LogLine] {
        try await counted(.read) { try await topics.logs.lines(query) }
    }

    package func reload() async throws(ControlError) {
        try await counted(.reload) { try await reloader.reload() }
    }

    package func metrics(_ query: MetricsQuery) async -> MetricsAnswer { await topics.metrics.answer(query) }

    package func notReady() async -> [String] { await topics.health.notReady() }

    package var databaseCheck: String? {
        store.status.pageCheckPhase == .unneeded ? nil : store.status.pageCheckPhase.name
    }

    package func isHealthy() async -> Bool { await topics.health.isHealthy() }

    package func noteRefusal(_ reason: ControlRefusal, at port: ServedPort) {
        topics.ports.noteRefusal(reason, at: port)
    }

    package func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort) {
        topics.ports.noteWebConfiguration(news, at: port)
    }

    /// Counts a control request by its outcome.
    private func counted<Answer: Sendable>(
        _ operation: ControlOperation,
        _ work: () async throws -> Answer
    ) async throws(ControlError) -> Answer {
        do {
            let answer = try await work()
            metrics.controlRequests[operation, .ok].increment()
            return answer
        } catch {
            metrics.controlRequests[operation, .failed].increment()
            throw ControlError(error)
        }
    }
}
