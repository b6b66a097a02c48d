public import StarwatchCore

/// What fetches the content of digests in the host program, in place of a URL (``ContentSource/fetcher(_:)``).
///
/// It is asked as a URL is: once before each time, a lead ahead, for at most 12 s; never at the time itself. What it
/// answers is stored before anything is shown.
public protocol ContentFetcher: Sendable {
    /// By which ``DigestOptions/content`` names it; unlike that of every other fetcher.
    var name: String { get }

    /// Fetches the content of one digest. Not tried again when it fails: then ``DigestOptions/onMissing`` says what is
    /// shown. One that takes longer than 12 s has failed; its task is cancelled, but not waited for.
    ///
    /// - Throws: Anything; what it says is neither logged nor shown.
    func content(for request: ContentRequest) async throws -> ContentAnswer
}

/// What a ``ContentFetcher`` is asked for.
public struct ContentRequest: Sendable, Hashable {
    /// The digest's name.
    public let digest: DigestName
    /// When it is to be shown; `nil` when it is fetched for no time: at the start without content, or by hand.
    public let fireAt: Timestamp?
    /// Whose content it is. When another identity is active by the time of the answer, it is thrown away.
    public let account: DID
    /// What the last answer called its version; `nil`: nothing is stored, and ``ContentAnswer/notModified`` is no answer.
    public let etag: String?
}

/// What a ``ContentFetcher`` answers.
public enum ContentAnswer: Sendable, Hashable {
    /// A JSON object of at most 256 KiB, and a name for this version of it: up to 256 printable ASCII characters without
    /// spaces; any other is left out.
    case content(String, etag: String? = nil)
    /// What is stored still holds: it is as young as new.
    case notModified
}
