import StarwatchCore

/// The failure of a control request. The message is one sentence that says what to do.
package struct ControlError: Error, Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The poll, row, sink, notification or identity does not exist.
        case notFound = "not_found"
        /// The request makes no sense.
        case invalid
        /// The request does not fit the state: a row that is not dead, an agent that is signed out.
        case conflict
        /// The agent already does as much of this as it can.
        case busy
        case failed

        /// No agent listens on the socket, or this user may not open it.
        case unreachable
        /// The agent did not answer in time.
        case timedOut = "timed_out"
        /// The agent closed the connection before it answered.
        case hungUp = "hung_up"
        /// The answer is not one of an agent of this version.
        case unintelligible
        /// The caller's task was cancelled.
        case cancelled

        /// The kinds that an agent answers with. The others are found by its client.
        package static let answered: [Kind] = [.notFound, .invalid, .conflict, .busy, .failed]
    }

    package var kind: Kind
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Rejects a list that is empty or too long.
    ///
    /// - Throws: ``ControlError`` unless `limit` is 1 to `most`.
    static func check(limit: Int, upTo most: Int) throws {
        if !(1...most).contains(limit) { throw ControlError(.invalid, "The limit must be between 1 and \(most).") }
    }

    /// Returns the time of a query's `since`; `nil` for none.
    ///
    /// - Throws: ``ControlError`` for a text that is no time.
    static func time(since text: String?) throws -> Timestamp? {
        guard let text else { return nil }
        if let time = Timestamp(iso8601: text) { return time }
        throw ControlError(.invalid, "since must be a time such as 2026-01-01T12:00:00Z.")
    }

    /// The error of a control request, for any error.
    package init(_ error: any Error) { self = error as? ControlError ?? ControlError(.failed, "\(error)") }
}

/// `{"error": {"kind": …, "message": …}}`. The kind is a ``ControlError/Kind`` or one of the server's own words.
package struct ControlErrorBody: Sendable, Codable {
    package struct Detail: Sendable, Codable {
        package var kind: String
        /// One sentence that says what to do.
        package var message: String
    }

    package var error: Detail

    package init(kind: String, message: String) { error = Detail(kind: kind, message: message) }
}
