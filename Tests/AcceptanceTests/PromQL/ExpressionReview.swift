/// Finds in an expression what cannot be meant: unknown metrics and labels, uses that do not fit the type, and
/// operations whose sides can never match.
struct ExpressionReview {
    /// The labels of what an expression gives.
    enum Shape: Equatable {
        case scalar
        /// Not known: a recording rule that reads itself.
        case any
        case vector(Set<String>)

        func has(_ label: String) -> Bool {
            switch self {
            case .scalar: false
            case .any: true
            case .vector(let labels): labels.contains(label)
            }
        }
    }

    private let book: SampleBook
    private(set) var problems: [String] = []
    private var reading: Set<String> = []

    /// - Parameter legend: Labels that a legend or an annotation shows.
    static func problems(of expression: String, in book: SampleBook, legend: [String] = []) -> [String] {
        do {
            let parsed = try PromQLParser.parse(expression)
            var review = Self(book: book)
            let shape = review.shape(of: parsed)
            review.require(legend, in: shape, of: "the legend")
            return review.problems
        } catch {
            return ["\(error)"]
        }
    }

    private init(book: SampleBook) { self.book = book }

    // MARK: Shapes

    private mutating func shape(of expression: PromQL) -> Shape {
        switch expression {
        case .number, .text: return .scalar
        case .selector(let selector): return shape(of: selector, in: nil)
        case .call(let name, let parts): return shape(ofCall: name, parts)
        case .aggregation(let name, let grouping, let parts):
            let inner = parts.last.map { shape(of: $0) } ?? .scalar
            let isSelection = ["topk", "bottomk"].contains(name)
            guard let grouping else { return isSelection ? inner : .vector([]) }
            require(grouping.labels, in: inner, of: "\(name) \(grouping.isBy ? "by" : "without")")
            guard !isSelection, case .vector(let labels) = inner else { return inner }
            return .vector(grouping.isBy ? labels.intersection(grouping.labels) : labels.subtracting(grouping.labels))
        case .binary(let left, let operation, let right):
            return joined(shape(of: left), operation, shape(of: right))
        }
    }

    private mutating func shape(of selector: PromQL.Selector, in function: String?) -> Shape {
        let wantsRange = function.map { RangeFunction.all[$0] != nil } ?? false
        if wantsRange != (selector.range != nil) {
            problems.append("\(selector.name) \(wantsRange ? "needs" : "must not have") a range")
        }
        guard let entry = book.entry(selector.name) else { return shape(ofRecording: selector) }
        let takes = function.flatMap { RangeFunction.all[$0] } ?? .gauges
        let isCounter = entry.kind != .gauge
        if takes == .counters, !isCounter { problems.append("\(function ?? "") of the gauge \(selector.name)") }
        if takes == .gauges, isCounter { problems.append("\(function ?? "the value") of the counter \(selector.name)") }
        let labels = Set(entry.labels.keys)
        for matcher in selector.matchers {
            guard let values = entry.labels[matcher.label] else {
                problems.append("\(selector.name) has no label \(matcher.label)")
                continue
            }
            if !values.isEmpty { check(matcher, of: selector.name, against: values) }
        }
        return .vector(labels)
    }

    private mutating func shape(ofRecording selector: PromQL.Selector) -> Shape {
        guard let recording = book.recording(selector.name) else {
            problems.append("\(selector.name) does not exist")
            return .any
        }
        guard reading.insert(selector.name).inserted else { return .any }
        // Its own problems are found where it is defined.
        let known = problems
        let shape = shape(of: recording)
        problems = known
        reading.remove(selector.name)
        require(selector.matchers.map(\.label), in: shape, of: selector.name)
        return shape
    }

    private mutating func shape(ofCall name: String, _ parts: [PromQL]) -> Shape {
        switch name {
        case "time" where parts.isEmpty: return .scalar
        case "vector": return .vector([])
        case "scalar": return .scalar
        case "absent":
            _ = parts.first.map { shape(of: $0) }
            guard case .selector(let selector)? = parts.first else { return .vector([]) }
            return .vector(Set(selector.matchers.filter { $0.comparison == "=" }.map(\.label)))
        case "histogram_quantile":
            guard parts.count == 2 else { break }
            let inner = shape(of: parts[1])
            require(["le"], in: inner, of: name)
            for selector in parts[1].selectors where book.entry(selector.name)?.kind != .bucket {
                problems.append("\(name) of \(selector.name), which is no bucket")
            }
            guard case .vector(let labels) = inner else { return inner }
            return .vector(labels.subtracting(["le"]))
        case "label_join", "label_replace":
            guard parts.count == (name == "label_join" ? 4 : 5), case .text(let target) = parts[1],
                case .text(let source) = parts[3]
            else { break }
            let inner = shape(of: parts[0])
            require([source], in: inner, of: name)
            guard case .vector(let labels) = inner else { return inner }
            return .vector(labels.union([target]))
        default: break
        }
        guard
            RangeFunction.all[name] != nil
                || ["abs", "clamp", "clamp_min", "clamp_max", "ceil", "floor", "timestamp"].contains(name)
        else {
            problems.append("the function \(name) is not known here")
            return .any
        }
        var result = Shape.scalar
        for part in parts {
            let shape =
                if case .selector(let selector) = part { shape(of: selector, in: name) } else { self.shape(of: part) }
            if shape != .scalar { result = shape }
        }
        return result
    }

    private mutating func joined(_ left: Shape, _ operation: PromQL.Operation, _ right: Shape) -> Shape {
        if left == .scalar { return right }
        if right == .scalar { return left }
        if let isOn = operation.isOn {
            if isOn || left != .any && right != .any {
                for label in operation.labels where isOn ? !(left.has(label) && right.has(label)) : false {
                    problems.append("\(operation.sign) on (\(label)), which one side does not have")
                }
                for label in operation.labels where !isOn && !left.has(label) && !right.has(label) {
                    problems.append("\(operation.sign) ignoring (\(label)), which no side has")
                }
            }
        }
        guard case .vector(let a) = left, case .vector(let b) = right else { return left == .any ? right : left }
        let named = Set(operation.labels)
        if operation.sign == "or" { return .vector(a.union(b)) }
        if operation.isOn != true, a.subtracting(named) != b.subtracting(named) {
            let differ = a.symmetricDifference(b).subtracting(named).sorted().joined(separator: ", ")
            problems.append("\(operation.sign) never matches: only one side has \(differ)")
        }
        if operation.isSet { return left }
        switch operation.groups {
        case .left?:
            require(operation.carried, in: right, of: "group_left")
            return .vector(a.union(operation.carried))
        case .right?:
            require(operation.carried, in: left, of: "group_right")
            return .vector(b.union(operation.carried))
        case nil:
            return .vector(operation.isOn == true ? named : a.subtracting(named))
        }
    }

    // MARK: Labels

    private mutating func require(_ labels: [String], in shape: Shape, of what: String) {
        for label in labels where !shape.has(label) { problems.append("\(what) uses \(label), which is not there") }
    }

    private mutating func check(_ matcher: PromQL.Matcher, of name: String, against values: [String]) {
        guard !matcher.value.contains("$") else { return }
        let isPattern = matcher.comparison.hasSuffix("~")
        let wanted = isPattern ? matcher.value.split(separator: "|").map(String.init) : [matcher.value]
        for value in wanted where !values.contains(value) {
            problems.append("\(name) has no \(matcher.label) \(value)")
        }
    }
}

/// A function over a range, and what it may be given.
enum RangeFunction {
    case counters
    case gauges
    case both

    static let all: [String: RangeFunction] = [
        "rate": .counters, "irate": .counters, "increase": .counters, "resets": .counters,
        "deriv": .gauges, "delta": .gauges, "idelta": .gauges, "predict_linear": .gauges,
        "avg_over_time": .gauges, "min_over_time": .gauges, "max_over_time": .gauges, "sum_over_time": .gauges,
        "last_over_time": .gauges, "quantile_over_time": .gauges,
        "changes": .both, "count_over_time": .both, "present_over_time": .both,
    ]
}
