import StarwatchStore

/// The reason why an agent did not start, or stopped. The message is one sentence that says what to do.
public struct AgentError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The configuration, or a file that it names, is unusable: exit code 2.
        case configuration
        /// A failure while running: exit code 1.
        case failed
    }

    public let kind: Kind
    public let message: String
    /// Whether the error is that of a database that is damaged, full, locked or unreadable. A command that only wanted to
    /// use it then failed, and its usage was right.
    package var concernsDatabase = false

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// - Parameter message: The sentence; `nil` for the error's own.
    static func database(_ error: StoreError, _ message: String? = nil) -> AgentError {
        var result = AgentError(.configuration, message ?? error.description)
        result.concernsDatabase = error.kind != .version
        return result
    }

    public var description: String { message }
}
