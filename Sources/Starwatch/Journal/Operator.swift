import Glibc
package import StarwatchCore

/// The person or program that asked for a change.
package struct Operator: Sendable, Hashable {
    /// The way the request came.
    package enum Way: String, Sendable {
        /// The control socket, with the peer's user of this machine.
        case socket
        /// A port, with the name of the password's user, or `token`.
        case port
        /// A command without a running agent, with its user.
        case command
        case signal
        /// The program that the agent is part of.
        case program
    }

    package let way: Way
    package let name: String?
    /// The one of many accounts that the request is about; `nil`: none, or the active identity.
    package var account: DID?

    /// - Parameter name: A name of other characters than letters, digits, `.`, `-` and `_` could be that of a person
    ///   elsewhere, such as an address, so it becomes `user`.
    package init(_ way: Way, _ name: String? = nil) {
        self.way = way
        self.name = name.map { $0.isPlainName ? $0 : "user" }
    }

    package static let program = Operator(.program)
    package static let signal = Operator(.signal)

    /// A user of this machine, by name if it has one.
    package static func user(_ id: UInt32, by way: Way) -> Operator {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer -> String? in
            guard getpwuid_r(id, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else {
                return nil
            }
            return String(cString: entry.pw_name)
        }
        return Operator(way, name ?? "uid-\(id)")
    }

    /// The way and the name: `socket:anna`.
    package var text: String { way.rawValue + (name.map { ":\($0)" } ?? "") }

    /// The operator whose request is being performed.
    @TaskLocal static var current = Operator.signal
}
