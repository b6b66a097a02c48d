import FoundationEssentials
import Glibc
package import StarwatchCore
import StarwatchTransport

/// A running agent behind its control socket. Every call opens a new connection.
///
/// There is no time limit, because a poll cycle takes as long as it takes; cancel the task to stop waiting. The
/// agent then still finishes the call.
package struct ControlClient: AgentControl {
    let socketPath: String
    private let http: Result<HTTPClient, HTTPError>

    package init(socketPath: String) {
        self.socketPath = socketPath
        let time = SystemClock()
        var options = HTTPClientOptions(socketPath: socketPath)
        options.keepsConnections = false
        options.acceptsPeer = { PeerRule.accepts($0, caller: geteuid(), folder: FileAccess(folderOf: socketPath)) }
        do throws(HTTPError) {
            let client = try HTTPClient(options: options, time: time)
            http = .success(client)
        } catch {
            http = .failure(error)
        }
    }

    package func status() async throws(ControlError) -> AgentStatus {
        try await get("/api/v1/status", within: Self.patience)
    }

    package func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport {
        let query = unlessWithin.map { "?unless_within=\($0.components.seconds)" } ?? ""
        return try await post("/api/v1/polls/\(PercentEncoding.encode(name))/run" + query)
    }

    package func tryPoll(_ name: String) async throws(ControlError) -> PollReport {
        try await post("/api/v1/polls/\(PercentEncoding.encode(name))/try")
    }

    package func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry] {
        let fields = [
            ("limit", "\(query.limit)"), ("state", query.state), ("poll", query.poll),
            ("before", query.before.map(String.init)),
        ]
        return try await get(Self.target("/api/v1/outbox", fields), as: OutboxListing.self).entries
    }

    package func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry {
        try await get("/api/v1/outbox/\(id)")
    }

    package func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await post("/api/v1/outbox/retry", RowSelection(ids: ids), as: ChangeCount.self).changed
    }

    package func outboxRetryAll(poll: String?) async throws(ControlError) -> Int {
        try await post("/api/v1/outbox/retry", RowSelection(allOf: poll), as: ChangeCount.self).changed
    }

    package func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        let selection = DiscardSelection(RowSelection(ids: ids))
        return try await post("/api/v1/outbox/discard", selection, as: ChangeCount.self).changed
    }

    package func outboxDiscardAll(poll: String?, in state: DiscardableState) async throws(ControlError) -> Int {
        let selection = DiscardSelection(RowSelection(allOf: poll), in: state)
        return try await post("/api/v1/outbox/discard", selection, as: ChangeCount.self).changed
    }

    package func quarantineList(_ query: QuarantineQuery) async throws(ControlError) -> [QuarantineEntry] {
        let fields = [
            ("limit", "\(query.limit)"), ("poll", query.poll), ("before", query.before.map(String.init)),
        ]
        return try await get(Self.target("/api/v1/quarantine", fields), as: QuarantineListing.self).entries
    }

    package func quarantineDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await post("/api/v1/quarantine/discard", RowSelection(ids: ids), as: ChangeCount.self).changed
    }

    package func quarantineDiscardAll(poll: String?) async throws(ControlError) -> Int {
        try await post("/api/v1/quarantine/discard", RowSelection(allOf: poll), as: ChangeCount.self).changed
    }

    package func identity() async throws(ControlError) -> IdentityReport {
        try await get("/api/v1/identity", within: Self.patience)
    }

    package func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try await call(.put, "/api/v1/identity", IdentityChange(did: did?.rawValue))
    }

    package func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport {
        try await post("/api/v1/identity/remove", IdentityRemoval(did: did.rawValue))
    }

    package func eraseIdentity(_ did: DID) async throws(ControlError) -> IdentityErasureReport {
        try await post("/api/v1/identity/erase", IdentityRemoval(did: did.rawValue))
    }

    package func keys() async throws(ControlError) -> KeysReport {
        try await get("/api/v1/keys", within: Self.patience)
    }

    package func rotateDataKeys() async throws(ControlError) -> KeysReport {
        try await post("/api/v1/keys/rotate")
    }

    package func changeMasterKey(to text: String) async throws(ControlError) -> KeysReport {
        try await post("/api/v1/keys/master", MasterKeyChange(key: text))
    }

    package func importSigningKey(_ key: SigningKeyImport) async throws(ControlError) -> SigningKeyReport {
        try await post("/api/v1/keys/signing", key)
    }

    package func rotateSigningKey(_ rotation: SigningKeyRotation) async throws(ControlError) -> SigningKeyReport {
        try await post("/api/v1/keys/signing/rotate", rotation)
    }

    package func revokeSigningKey(_ revocation: SigningKeyRevocation) async throws(ControlError) -> SigningKeyReport {
        try await post("/api/v1/keys/signing/revoke", revocation)
    }

    package func verifyKeys() async throws(ControlError) -> KeyVerification {
        try await post("/api/v1/keys/verify")
    }

    package func starsListing() async throws(ControlError) -> StarsListing {
        try await get("/api/v1/stars", within: Self.patience)
    }

    package func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try await post("/api/v1/stars", change, as: StarsListing.self).planIDs
    }

    package func archivedStars() async throws(ControlError) -> [ArchivedStarsReport] {
        try await get("/api/v1/stars/archived", as: StarsArchive.self).archived
    }

    package func digests() async throws(ControlError) -> [DigestReport] {
        try await get("/api/v1/digests", as: DigestListing.self).digests
    }

    package func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport {
        try await post("/api/v1/digests/\(PercentEncoding.encode(name))/fetch")
    }

    package func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport {
        try await post("/api/v1/digests/\(PercentEncoding.encode(name))/show")
    }

    package func testSink(_ name: String) async throws(ControlError) -> SinkTestReport {
        try await post("/api/v1/sinks/\(PercentEncoding.encode(name))/test")
    }

    package func clearServerWait() async throws(ControlError) -> ServerWaitReport {
        try await post("/api/v1/server/clear-wait")
    }

    package func reload() async throws(ControlError) { _ = try await post("/api/v1/reload", as: ReloadAnswer.self) }

    package func feed(_ query: NotificationQuery) async throws(ControlError) -> [FeedEntry] {
        let fields = [("limit", "\(query.limit)"), ("before", query.before.map(String.init))]
        return try await get(Self.target("/api/v1/notifications", fields), as: FeedListing.self).notifications
    }

    package func notificationList(_ query: NotificationQuery) async throws(ControlError) -> [NotificationEntry] {
        let fields = [("limit", "\(query.limit)"), ("before", query.before.map(String.init))]
        let target = Self.target("/api/v1/notifications/sent", fields)
        return try await get(target, as: NotificationListing.self).notifications
    }

    package func notificationShow(_ id: String) async throws(ControlError) -> NotificationEntry {
        try await get("/api/v1/notifications/\(PercentEncoding.encode(id))")
    }

    package func notificationAct(_ id: String, _ action: NotificationAction) async throws(ControlError) -> ActionReport
    {
        try await post("/api/v1/notifications/\(PercentEncoding.encode(id))/actions/\(action.rawValue)")
    }

    package func shortlinkShow(_ shortlink: Shortlink) async throws(ControlError) -> ShortlinkReport {
        try await get("/api/v1/shortlinks/\(shortlink.rawValue)")
    }

    package func explain(_ id: String) async throws(ControlError) -> Story {
        try await get("/api/v1/explain/\(PercentEncoding.encode(id))")
    }

    package func logs(_ query: LogQuery) async throws(ControlError) -> [LogLine] {
        let fields = [
            ("limit", "\(query.limit)"), ("since", query.since), ("level", query.level?.rawValue), ("run", query.run),
            ("after", query.after.map(String.init)),
        ]
        return try await get(Self.target("/api/v1/logs", fields), as: LogListing.self).lines
    }

    // MARK: - HTTP

    /// The longest wait for what an agent answers at once.
    private static let patience = Duration.seconds(10)

    /// The largest answer taken; an outbox of 10,000 rows is below 4 MiB.
    static let answerLimitBytes = 64 * 1_048_576

    private func get<Answer: Decodable>(
        _ target: String,
        as type: Answer.Type = Answer.self,
        within limit: Duration? = nil
    ) async throws(ControlError) -> Answer {
        try await call(.get, target, as: type, within: limit)
    }

    private func post<Answer: Decodable>(
        _ target: String,
        _ body: (any Encodable & Sendable)? = nil,
        as type: Answer.Type = Answer.self
    ) async throws(ControlError) -> Answer {
        try await call(.post, target, body, as: type)
    }

    private func call<Answer: Decodable>(
        _ method: HTTPRequest.Method,
        _ target: String,
        _ body: (any Encodable & Sendable)? = nil,
        as type: Answer.Type = Answer.self,
        within limit: Duration? = nil
    ) async throws(ControlError) -> Answer {
        var request = request(method, target)
        request.timeout = limit
        if let body, let bytes = try? JSONEncoder().encode(body) {
            request.headers.append(("Content-Type", "application/json"))
            request.body = Array(bytes)
        }
        let response = try response(of: await client().exchange(request))
        guard let value = try? JSONDecoder().decode(type, from: Data(response.body)) else { throw .unintelligible }
        return value
    }

    func client() throws(ControlError) -> HTTPClient {
        do throws(HTTPError) { return try http.get() } catch { throw ControlError(.failed, error.description) }
    }

    func request(_ method: HTTPRequest.Method, _ target: String) -> HTTPRequest {
        HTTPRequest(
            method: method,
            url: "http://localhost" + target,
            headers: [("Accept", "application/json"), ("Connection", "close")],
            timeout: nil,
            maxResponseBytes: Self.answerLimitBytes
        )
    }

    private static func target(_ path: String, _ fields: [(name: String, value: String?)]) -> String {
        let pairs = fields.compactMap { field in field.value.map { "\(field.name)=\(PercentEncoding.encode($0))" } }
        return path + "?" + pairs.joined(separator: "&")
    }
}
