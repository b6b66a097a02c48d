/// A change of the token in a feed's address: `{"operation": "rotate"}`.
package struct FeedTokenChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable, Codable, CaseIterable {
        case create, rotate
    }

    package var operation: Operation
    /// The token, in the answer of an agent with `accounts: many`. Otherwise the command has made the change.
    package var token: String?

    package init(_ operation: Operation) { self.operation = operation }
}
