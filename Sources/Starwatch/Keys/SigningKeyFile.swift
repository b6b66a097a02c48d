import StarwatchCore
import StarwatchTransport

/// A file with a signing key, for a command.
package enum SigningKeyFile {
    /// The largest file.
    private static let limitBytes = 65_536

    /// Reads a key file that exists.
    ///
    /// - Throws: ``AgentError`` if others can read or own the file, or if it is empty or too large.
    package static func read(_ path: String) throws(AgentError) -> [UInt8] {
        try SecretFile(path: path, setting: "--file", limitBytes: limitBytes).bytes()
    }

    /// A new secret that is written to a file before an agent has it.
    package struct Rotation: Sendable, CustomStringConvertible, CustomReflectable {
        /// The place for the secret.
        package let path: String
        /// The text of the file without its end of line: 64 hexadecimal digits.
        package let content: [UInt8]
        /// Whether an interrupted rotation had made the secret.
        package let isResumed: Bool

        /// The place of the secret until the database has it.
        private static func pending(_ path: String) -> String { path + ".next" }

        /// Writes a new random secret beside `path`, or reads the one of a rotation that was interrupted.
        ///
        /// - Throws: ``AgentError`` if `path` has another key, or with the system's reason.
        package init(to path: String) throws(AgentError) {
            let pending = Self.pending(path)
            let secret = Hex.encode((0..<32).map { _ in UInt8.random(in: 0...255) })
            if !KeyFile.exists(pending), KeyFile.exists(path) { throw Self.taken(path) }
            isResumed = try !KeyFile.create(pending, secret + "\n")
            content = isResumed ? try SigningKeyFile.read(pending) : Array(secret.utf8)
            self.path = path
            if KeyFile.exists(path), try SigningKeyFile.read(path) != content { throw Self.taken(path) }
        }

        /// Gives the file its name, after the database has the secret.
        ///
        /// - Throws: ``AgentError`` with the system's reason.
        package func finish() throws(AgentError) {
            let pending = Self.pending(path)
            if try !KeyFile.move(pending, to: path) {
                // An interrupted rotation had given it already.
                guard try SigningKeyFile.read(path) == content else { throw Self.taken(path) }
                KeyFile.delete(pending)
            }
        }

        /// Deletes a secret that the agent did not take.
        package func discard() {
            if !isResumed { KeyFile.delete(Self.pending(path)) }
        }

        private static func taken(_ path: String) -> AgentError {
            AgentError(.failed, "\(path) exists already, and a key is never replaced; name another file.")
        }

        package var description: String { "<signing key in \(path)>" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }
}
