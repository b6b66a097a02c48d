public import StarwatchCore

/// A fetcher of digest content in the host program, instead of a URL (``ContentSource/fetcher(_:)``).
///
/// The agent calls it as it would fetch a URL: once before each scheduled time, by the lead, for at most 12 s. It never
/// calls it at the scheduled time. It stores the answer before it shows anything.
public protocol ContentFetcher: Sendable {
    /// The unique name for ``DigestOptions/content``.
    var name: String { get }

    /// Fetches the content of one digest. The agent does not retry a failed fetch; ``DigestOptions/onMissing`` then
    /// selects the text. After 12 s the fetch has failed: the agent cancels its task, but does not wait for it.
    ///
    /// - Throws: Any error; the agent neither logs nor shows its message.
    func content(for request: ContentRequest) async throws -> ContentAnswer
}

/// A request to a ``ContentFetcher``.
public struct ContentRequest: Sendable, Hashable {
    /// The digest's name.
    public let digest: DigestName
    /// The time at which the content will be shown; `nil` for a fetch at startup without content, or a manual one.
    public let fireAt: Timestamp?
    /// The account of the content. If another identity is active when the answer arrives, the answer is dropped.
    public let account: DID
    /// The version that the last answer named. `nil`: nothing is stored, and ``ContentAnswer/notModified`` is invalid.
    public let etag: String?
}

/// Answer of a ``ContentFetcher``.
public enum ContentAnswer: Sendable, Hashable {
    /// A JSON object of at most 256 KiB, and a name of its version: up to 256 printable ASCII characters without
    /// spaces. Any other name is ignored.
    case content(String, etag: String? = nil)
    /// The stored content is still valid, and counts as fresh.
    case notModified
}
