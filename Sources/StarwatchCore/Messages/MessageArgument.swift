/// A value for a variable of a message.
public enum MessageArgument: Sendable, Hashable {
    case text(String)
    case number(Int)

    /// The text in the message. Numbers have no separators.
    var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }
}

/// The variables of messages.
public enum MessageVariable: String, Sendable, CaseIterable {
    case projectName, count, total, hours

    /// Whether the values are numbers, so that a plural can use them.
    public var isNumber: Bool { self != .projectName }
}
