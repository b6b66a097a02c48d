/// Reads PromQL by precedence climbing.
struct PromQLParser {
    private static let aggregations: Set<String> = [
        "sum", "min", "max", "avg", "count", "group", "stddev", "stdvar", "topk", "bottomk", "quantile", "count_values",
    ]

    /// From loosest to tightest.
    private static let levels: [Set<String>] = [
        ["or"], ["and", "unless"], ["==", "!=", ">", ">=", "<", "<="], ["+", "-"], ["*", "/", "%"], ["^"],
    ]

    private var tokens: ArraySlice<PromQLToken>

    static func parse(_ expression: String) throws(PromQL.Failure) -> PromQL {
        var parser = Self(tokens: try PromQLToken.all(in: expression)[...])
        let result = try parser.binary(level: 0)
        guard parser.tokens.isEmpty else { throw PromQL.Failure(description: "more after the end") }
        return result
    }

    // MARK: Operators

    private mutating func binary(level: Int) throws(PromQL.Failure) -> PromQL {
        guard level < Self.levels.count else { return try unary() }
        var left = try binary(level: level + 1)
        while let sign = operatorSign(at: level) {
            tokens.removeFirst()
            let operation = try modifiers(of: sign)
            // A power groups from the right; nothing else does.
            let right = try binary(level: sign == "^" ? level : level + 1)
            left = .binary(left, operation, right)
        }
        return left
    }

    private func operatorSign(at level: Int) -> String? {
        switch tokens.first {
        case .word(let text), .sign(let text): Self.levels[level].contains(text) ? text : nil
        default: nil
        }
    }

    private mutating func modifiers(of sign: String) throws(PromQL.Failure) -> PromQL.Operation {
        var operation = PromQL.Operation(sign: sign)
        while case .word(let word) = tokens.first,
            ["bool", "on", "ignoring", "group_left", "group_right"].contains(word)
        {
            tokens.removeFirst()
            switch word {
            case "bool": operation.isBool = true
            case "on", "ignoring":
                operation.isOn = word == "on"
                operation.labels = try labelList()
            default:
                operation.groups = word == "group_left" ? .left : .right
                if tokens.first == .sign("(") { operation.carried = try labelList() }
            }
        }
        return operation
    }

    private mutating func unary() throws(PromQL.Failure) -> PromQL {
        if tokens.first == .sign("-") || tokens.first == .sign("+") { tokens.removeFirst() }
        let operand = try operand()
        // A subquery has the families and labels of its expression.
        if case .range = tokens.first { tokens.removeFirst() }
        return operand
    }

    // MARK: Operands

    private mutating func operand() throws(PromQL.Failure) -> PromQL {
        switch tokens.popFirst() {
        case .number: return .number
        case .text(let text): return .text(text)
        case .sign("("):
            let inner = try binary(level: 0)
            try expect(")")
            return inner
        case .word(let name):
            if Self.aggregations.contains(name) { return try aggregation(name) }
            if tokens.first == .sign("(") { return .call(name, try arguments()) }
            return .selector(try selector(name))
        default: throw PromQL.Failure(description: "an operand is missing")
        }
    }

    private mutating func aggregation(_ name: String) throws(PromQL.Failure) -> PromQL {
        var grouping = try grouping()
        let parts = try arguments()
        if grouping == nil { grouping = try self.grouping() }
        return .aggregation(name, grouping, parts)
    }

    private mutating func grouping() throws(PromQL.Failure) -> PromQL.Grouping? {
        guard case .word(let word) = tokens.first, word == "by" || word == "without" else { return nil }
        tokens.removeFirst()
        return PromQL.Grouping(isBy: word == "by", labels: try labelList())
    }

    private mutating func arguments() throws(PromQL.Failure) -> [PromQL] {
        try expect("(")
        var parts: [PromQL] = []
        while tokens.first != .sign(")") {
            parts.append(try binary(level: 0))
            if tokens.first != .sign(")") { try expect(",") }
        }
        try expect(")")
        return parts
    }

    private mutating func labelList() throws(PromQL.Failure) -> [String] {
        try expect("(")
        var labels: [String] = []
        while tokens.first != .sign(")") {
            guard case .word(let label) = tokens.popFirst() else {
                throw PromQL.Failure(description: "a label is missing")
            }
            labels.append(label)
            if tokens.first != .sign(")") { try expect(",") }
        }
        try expect(")")
        return labels
    }

    private mutating func selector(_ name: String) throws(PromQL.Failure) -> PromQL.Selector {
        var selector = PromQL.Selector(name: name)
        if tokens.first == .sign("{") {
            tokens.removeFirst()
            while tokens.first != .sign("}") {
                guard case .word(let label) = tokens.popFirst(), case .sign(let comparison) = tokens.popFirst(),
                    case .text(let value) = tokens.popFirst(), ["=", "!=", "=~", "!~"].contains(comparison)
                else { throw PromQL.Failure(description: "a matcher of \(name) is broken") }
                selector.matchers.append(PromQL.Matcher(label: label, comparison: comparison, value: value))
                if tokens.first != .sign("}") { try expect(",") }
            }
            try expect("}")
        }
        if case .range(let range) = tokens.first {
            tokens.removeFirst()
            selector.range = range
        }
        if tokens.first == .word("offset") {
            tokens.removeFirst(2)
        }
        return selector
    }

    private mutating func expect(_ sign: String) throws(PromQL.Failure) {
        guard tokens.popFirst() == .sign(sign) else { throw PromQL.Failure(description: "\(sign) is missing") }
    }
}
