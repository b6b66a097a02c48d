/// The treatment of invalid items of a page.
public enum QuarantinePolicy: Sendable, Hashable {
    /// A page with an invalid item is rejected until the server repairs it.
    case never
    /// A page is rejected `refusals` − 1 times in a row. The next time its invalid items alone are set aside.
    case after(refusals: Int)

    /// Invalid items are set aside at once.
    public static let atOnce = QuarantinePolicy.after(refusals: 1)
    /// The page of a server that is being updated gets two more chances.
    public static let standard = QuarantinePolicy.after(refusals: 3)

    /// Whether the next cycle sets invalid items aside.
    ///
    /// - Parameters:
    ///   - refusals: The rejected pages in a row until now.
    ///   - validation: With strict validation an invalid item is set aside at once or never.
    public func isDue(refusals: Int, validation: Validation) -> Bool {
        switch self {
        case .never: false
        case .atOnce: true
        case .after(let limit): validation == .lenient && refusals + 1 >= limit
        }
    }

    /// Whether an invalid item can stop the poll for ever.
    public func isNever(validation: Validation) -> Bool {
        self == .never || validation == .strict && self != .atOnce
    }
}

/// The form of the configuration: `true` for ``QuarantinePolicy/atOnce``, `false` for ``QuarantinePolicy/never``, or
/// `after 3`, with 2 to 100.
extension QuarantinePolicy: LosslessStringConvertible {
    public init?(_ text: String) {
        switch text.lowercased() {
        case "true": self = .atOnce
        case "false": self = .never
        case let other:
            guard other.hasPrefix("after "), let count = Int(other.dropFirst("after ".count)), (2...100).contains(count)
            else { return nil }
            self = .after(refusals: count)
        }
    }

    public var description: String {
        switch self {
        case .never: "false"
        case .atOnce: "true"
        case .after(let refusals): "after \(refusals)"
        }
    }
}
