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

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
