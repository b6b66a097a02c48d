/// A value for a variable of a message.
public enum MessageArgument: Sendable, Hashable {
    case text(String)
    case number(Int)

    /// As it stands in the message. Numbers have no separators.
    var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }
}

/// The variables that messages may have.
public enum MessageVariable: String, Sendable, CaseIterable {
    case projectName, count, hours

    /// Whether its values are numbers, so that a plural may ask for them.
    public var isNumber: Bool { self != .projectName }
}
