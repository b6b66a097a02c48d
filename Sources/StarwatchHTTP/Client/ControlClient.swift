import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
package import Starwatch
package import StarwatchCore

/// Speaks to a running agent over its control socket. Every call is a connection of its own.
///
/// There is no time limit, because a poll cycle takes as long as it takes; cancel the task to stop waiting. The
/// agent then finishes what it was asked.
package struct ControlClient: Sendable {
    private let socketPath: String

    /// The largest answer taken; an outbox of 10,000 rows is below 4 MiB.
    private static let answerLimitBytes = 64 * 1_048_576

    package init(socketPath: String) { self.socketPath = socketPath }

    package func status() async throws(ControlClientError) -> AgentStatus {
        try await call(.GET, "/api/v1/status")
    }

    /// Runs one cycle with delivery and acknowledgement, and waits for it.
    ///
    /// - Parameter unlessWithin: Skipped as `recent` if the poll had a success so lately; whole seconds.
    package func runPoll(
        _ name: String,
        unlessWithin: Duration? = nil
    ) async throws(ControlClientError) -> PollReport {
        let query = unlessWithin.map { "?unless_within=\($0.components.seconds)" } ?? ""
        return try await call(.POST, "/api/v1/polls/\(Self.escape(name))/run" + query)
    }

    /// The newest rows first.
    package func outboxList(_ query: OutboxQuery) async throws(ControlClientError) -> [OutboxEntry] {
        var fields = ["limit=\(query.limit)"]
        if let state = query.state { fields.append("state=" + Self.escape(state)) }
        if let poll = query.poll { fields.append("poll=" + Self.escape(poll)) }
        if let before = query.before { fields.append("before=\(before)") }
        let target = "/api/v1/outbox?" + fields.joined(separator: "&")
        return try await call(.GET, target, as: OutboxListing.self).entries
    }

    package func outboxShow(_ id: Int64) async throws(ControlClientError) -> OutboxEntry {
        try await call(.GET, "/api/v1/outbox/\(id)")
    }

    /// How many rows were changed.
    package func outboxRetry(_ ids: [Int64]) async throws(ControlClientError) -> Int {
        try await call(.POST, "/api/v1/outbox/retry", RowSelection(ids: ids), as: ChangeCount.self).changed
    }

    /// How many rows were changed.
    package func outboxRetryAll(poll: String?) async throws(ControlClientError) -> Int {
        let selection = RowSelection(allOf: poll)
        return try await call(.POST, "/api/v1/outbox/retry", selection, as: ChangeCount.self).changed
    }

    /// How many rows were changed.
    package func outboxDiscard(_ ids: [Int64]) async throws(ControlClientError) -> Int {
        try await call(.POST, "/api/v1/outbox/discard", RowSelection(ids: ids), as: ChangeCount.self).changed
    }

    /// How many rows were changed.
    package func outboxDiscardAll(poll: String?) async throws(ControlClientError) -> Int {
        let selection = RowSelection(allOf: poll)
        return try await call(.POST, "/api/v1/outbox/discard", selection, as: ChangeCount.self).changed
    }

    package func identity() async throws(ControlClientError) -> IdentityReport {
        try await call(.GET, "/api/v1/identity")
    }

    /// `nil` signs out.
    package func setIdentity(_ did: DID?) async throws(ControlClientError) -> IdentityReport {
        try await call(.PUT, "/api/v1/identity", IdentityChange(did: did?.rawValue))
    }

    package func removeIdentity(_ did: DID) async throws(ControlClientError) -> IdentityRemovalReport {
        try await call(.POST, "/api/v1/identity/remove", IdentityRemoval(did: did.rawValue))
    }

    package func stars() async throws(ControlClientError) -> [String] {
        try await call(.GET, "/api/v1/stars", as: StarsListing.self).planIDs
    }

    /// The starred plans after the change.
    package func changeStars(_ change: StarsChange) async throws(ControlClientError) -> [String] {
        try await call(.POST, "/api/v1/stars", change, as: StarsListing.self).planIDs
    }

    /// Newest first.
    package func archivedStars() async throws(ControlClientError) -> [ArchivedStarsReport] {
        try await call(.GET, "/api/v1/stars/archived", as: StarsArchive.self).archived
    }

    package func digests() async throws(ControlClientError) -> [DigestReport] {
        try await call(.GET, "/api/v1/digests", as: DigestListing.self).digests
    }

    /// Waits for the fetch, which takes 12 s at most.
    package func fetchDigest(_ name: String) async throws(ControlClientError) -> DigestFetchReport {
        try await call(.POST, "/api/v1/digests/\(Self.escape(name))/fetch")
    }

    /// Waits for one try at every sink.
    package func showDigest(_ name: String) async throws(ControlClientError) -> DigestShowReport {
        try await call(.POST, "/api/v1/digests/\(Self.escape(name))/show")
    }

    package func reload() async throws(ControlClientError) {
        _ = try await call(.POST, "/api/v1/reload", as: ReloadAnswer.self)
    }

    // MARK: - HTTP

    func call<Answer: Decodable>(
        _ method: HTTPMethod,
        _ target: String,
        _ body: (any Encodable & Sendable)? = nil,
        as type: Answer.Type = Answer.self
    ) async throws(ControlClientError) -> Answer {
        let bytes = try? body.map { try JSONEncoder().encode($0) }
        let (status, answer) = try await exchange(method, target, bytes.map { ByteBuffer(bytes: $0) })
        let data = Data(answer.readableBytesView)
        if status == 200, let value = try? JSONDecoder().decode(type, from: data) { return value }
        throw status == 200 ? .unintelligible : Self.refusal(data)
    }

    static func refusal(_ body: Data) -> ControlClientError {
        guard let error = try? JSONDecoder().decode(ErrorBody.self, from: body).error else { return .unintelligible }
        return .refused(ControlError(.init(rawValue: error.kind) ?? .failed, error.message))
    }

    typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    private func exchange(
        _ method: HTTPMethod,
        _ target: String,
        _ body: ByteBuffer?
    ) async throws(ControlClientError) -> (status: UInt, body: ByteBuffer) {
        let channel = try await connect()
        do {
            return try await channel.executeThenClose { inbound, outbound in
                var head = HTTPRequestHead(version: .http1_1, method: method, uri: target)
                head.headers = ["Host": "localhost", "Connection": "close", "Accept": "application/json"]
                if let body {
                    head.headers.add(name: "Content-Type", value: "application/json")
                    head.headers.add(name: "Content-Length", value: String(body.readableBytes))
                }
                try await outbound.write(.head(head))
                if let body { try await outbound.write(.body(.byteBuffer(body))) }
                try await outbound.write(.end(nil))
                return try await Self.collect(inbound)
            }
        } catch let error as ControlClientError {
            throw error
        } catch {
            throw Task.isCancelled || error is CancellationError ? .cancelled : .hungUp
        }
    }

    func connect() async throws(ControlClientError) -> Channel {
        do {
            return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(unixDomainSocketPath: socketPath) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        return try Channel(wrappingChannelSynchronously: channel)
                    }
                }
        } catch let error as IOError {
            throw .unreachable(path: socketPath, detail: ErrnoText.of(error.errnoCode))
        } catch {
            throw Task.isCancelled ? .cancelled : .unreachable(path: socketPath, detail: "not a usable path")
        }
    }

    private static func collect(
        _ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>
    ) async throws -> (status: UInt, body: ByteBuffer) {
        var status: UInt?
        var body = ByteBuffer()
        for try await part in parts {
            switch part {
            case .head(let head): status = head.status.code
            case .body(let piece):
                guard body.readableBytes + piece.readableBytes <= answerLimitBytes else {
                    throw ControlClientError.unintelligible
                }
                body.writeImmutableBuffer(piece)
            case .end:
                if let status { return (status, body) }
            }
        }
        // A cancelled task ends the stream as well.
        try Task.checkCancellation()
        throw ControlClientError.hungUp
    }

    /// Percent-encodes everything but RFC 3986's unreserved bytes.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                escaped += hex.count == 1 ? "%0" + hex : "%" + hex
            }
        }
        return escaped
    }
}
