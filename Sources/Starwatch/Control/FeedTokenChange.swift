/// A change of the token in the feed's address, which a command has made: `{"operation": "rotate"}`.
package struct FeedTokenChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable, Codable, CaseIterable {
        case create, rotate
    }

    package var operation: Operation

    package init(_ operation: Operation) { self.operation = operation }
}
