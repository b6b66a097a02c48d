/// An expression of PromQL, as far as rules, dashboards and runbooks here use the language.
indirect enum PromQL: Equatable {
    case number
    case text(String)
    case selector(Selector)
    case call(String, [PromQL])
    case aggregation(String, Grouping?, [PromQL])
    case binary(PromQL, Operation, PromQL)

    struct Selector: Equatable {
        let name: String
        var matchers: [Matcher] = []
        /// Text in the brackets; `nil` for an instant vector.
        var range: String?
    }

    struct Matcher: Equatable {
        let label: String
        let comparison: String
        let value: String
    }

    /// `by (…)` or `without (…)`.
    struct Grouping: Equatable {
        let isBy: Bool
        let labels: [String]
    }

    struct Operation: Equatable {
        let sign: String
        var isBool = false
        /// `on (…)` is true, `ignoring (…)` false.
        var isOn: Bool?
        var labels: [String] = []
        var groups: Side?
        /// The labels in the brackets of `group_left` or `group_right`.
        var carried: [String] = []

        var isSet: Bool { ["and", "or", "unless"].contains(sign) }
    }

    enum Side: Equatable {
        case left
        case right
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Every selector in the expression.
    var selectors: [Selector] {
        switch self {
        case .number, .text: []
        case .selector(let selector): [selector]
        case .call(_, let parts), .aggregation(_, _, let parts): parts.flatMap(\.selectors)
        case .binary(let left, _, let right): left.selectors + right.selectors
        }
    }
}
