/// A change of the token in the feed's address, which a command has made: `{"operation": "rotate"}`.
package struct FeedTokenChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable {
        case create, rotate
    }

    package var operation: String

    package init(_ operation: Operation) { self.operation = operation.rawValue }

    func check() throws(ControlError) {
        guard Operation(rawValue: operation) == nil else { return }
        throw ControlError(.invalid, "The operation is create or rotate.")
    }
}
