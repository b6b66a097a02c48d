import FoundationEssentials
import StarwatchCore

/// The parts of a request that hold a verb's input.
package struct ControlRequest: Sendable {
    /// The texts in the places of the path's parts in braces.
    package var arguments: [String] = []
    /// The query's pairs in order; names can repeat.
    package var query: [(name: String, value: String)] = []
    package var body: [UInt8] = []

    package init(arguments: [String] = [], query: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.arguments, self.query, self.body) = (arguments, query, body)
    }
}

/// The place of a verb's input in a request. The client writes it there, and the server reads it.
package struct RequestForm<Input: Sendable>: Sendable {
    package let write: @Sendable (Input) throws -> ControlRequest
    /// Throws ``ControlError`` of kind `invalid` with a sentence that repeats nothing of the request.
    package let read: @Sendable (ControlRequest) throws -> Input
    /// The names of the query parameters.
    package var parameters: [String] = []
    /// The type of the body; `nil` without one.
    package var body: (any (Decodable & SendableMetatype).Type)?

    /// One argument of the path.
    ///
    /// - Parameter otherwise: The sentence for a text that `read` rejects.
    static func argument(
        read: @escaping @Sendable (String) -> Input?,
        write: @escaping @Sendable (Input) -> String,
        otherwise sentence: String
    ) -> RequestForm {
        RequestForm {
            ControlRequest(arguments: [write($0)])
        } read: {
            guard let input = read($0.arguments[0]) else { throw ControlError(.invalid, sentence) }
            return input
        }
    }

    /// Fields of the query.
    ///
    /// - Parameter empty: The input of a request without a query.
    static func query(_ empty: Input, _ fields: [QueryField<Input>]) -> RequestForm {
        let names = fields.map(\.name)
        var form = RequestForm { input in
            ControlRequest(query: fields.compactMap { field in field.write(input).map { (field.name, $0) } })
        } read: { request in
            let parameters = try Parameters(request.query, allowing: names)
            var input = empty
            for field in fields {
                if let text = parameters[field.name] { try field.read(&input, text) }
            }
            return input
        }
        form.parameters = names
        return form
    }
}

extension RequestForm<Void> {
    static var none: RequestForm {
        RequestForm {
            ControlRequest()
        } read: { _ in
        }
    }
}

extension RequestForm<String> {
    /// A name or an id in the path.
    static var text: RequestForm { .argument(read: { $0 }, write: { $0 }, otherwise: "") }
}

extension RequestForm where Input: Codable {
    /// A body of JSON that has the fields of `Input` and no others.
    ///
    /// - Parameters:
    ///   - example: The form of the body, for the sentence about another one.
    ///   - check: Throws if the body makes no sense.
    static func body(_ example: String, check: @escaping @Sendable (Input) throws -> Void = { _ in }) -> RequestForm {
        var form = RequestForm {
            ControlRequest(body: Array(try ControlJSON.encode($0)))
        } read: { request in
            guard let input = decoded(request.body) else {
                throw ControlError(.invalid, "The body must be JSON of the form \(example).")
            }
            try check(input)
            return input
        }
        form.body = Input.self
        return form
    }

    /// `nil` for another body, and for one with more fields, because a mistyped field must not be ignored.
    private static func decoded(_ body: [UInt8]) -> Input? {
        guard let input = try? ControlJSON.decode(Input.self, from: body),
            case .object(let given) = JSONTree(json: body)
        else { return nil }
        let fields = Mirror(reflecting: input).children.compactMap(\.label).map(ControlJSON.snake)
        return Set(given.keys).isSubset(of: fields) ? input : nil
    }
}

/// A parameter of a query.
struct QueryField<Query: Sendable>: Sendable {
    let name: String
    /// `nil` leaves it out.
    let write: @Sendable (Query) -> String?
    let read: @Sendable (inout Query, String) throws -> Void

    static func text(_ name: String, _ value: any WritableKeyPath<Query, String?> & Sendable) -> QueryField {
        QueryField(name: name) {
            $0[keyPath: value]
        } read: {
            $0[keyPath: value] = $1
        }
    }

    /// `true` or `false`.
    static func flag(_ name: String, _ value: any WritableKeyPath<Query, Bool> & Sendable) -> QueryField {
        QueryField(name: name) {
            $0[keyPath: value] ? "true" : nil
        } read: {
            guard let isSet = Bool($1) else { throw ControlError(.invalid, "\(name) must be true or false.") }
            $0[keyPath: value] = isSet
        }
    }

    static func number(_ name: String, _ value: any WritableKeyPath<Query, Int64?> & Sendable) -> QueryField {
        QueryField(name: name) { query in
            query[keyPath: value].map(String.init)
        } read: {
            $0[keyPath: value] = try Parameters.number(name, $1)
        }
    }

    static func limit(_ value: any WritableKeyPath<Query, Int> & Sendable) -> QueryField {
        QueryField(name: "limit") {
            String($0[keyPath: value])
        } read: {
            $0[keyPath: value] = Int(try Parameters.number("limit", $1))
        }
    }
}

/// The query parameters of a request. Unknown and repeated names are rejected.
package struct Parameters: Sendable {
    private let values: [String: String]

    package init(_ query: [(name: String, value: String)], allowing names: [String]) throws(ControlError) {
        var values: [String: String] = [:]
        for (name, value) in query {
            guard names.contains(name), values.updateValue(value, forKey: name) == nil else {
                throw ControlError(.invalid, "Each parameter may stand once: \(names.joined(separator: ", ")).")
            }
        }
        self.values = values
    }

    package subscript(_ name: String) -> String? { values[name] }

    /// A whole number; `nil` if the parameter is absent.
    package func number(_ name: String) throws(ControlError) -> Int64? {
        guard let text = values[name] else { return nil }
        return try Self.number(name, text)
    }

    static func number(_ name: String, _ text: String) throws(ControlError) -> Int64 {
        if let value = number(text) { return value }
        throw ControlError(.invalid, "\(name) must be a whole number.")
    }

    /// The number that `text` writes in its usual form, without a plus and leading zeros; `nil` for anything else.
    package static func number(_ text: String) -> Int64? {
        Int64(text).flatMap { String($0) == text ? $0 : nil }
    }
}

extension PollRun {
    /// A year, in seconds.
    private static let longestWithin: Int64 = 31_536_000

    static var form: RequestForm<PollRun> {
        let parameter = "unless_within"
        var form = RequestForm<PollRun> { run in
            let query = run.unlessWithin.map { [(name: parameter, value: "\($0.components.seconds)")] }
            return ControlRequest(arguments: [run.name], query: query ?? [])
        } read: { request in
            let seconds = try Parameters(request.query, allowing: [parameter]).number(parameter)
            if let seconds, !(1...longestWithin).contains(seconds) {
                throw ControlError(.invalid, "\(parameter) must be from 1 to \(longestWithin) seconds.")
            }
            return PollRun(request.arguments[0], unlessWithin: seconds.map { .seconds($0) })
        }
        form.parameters = [parameter]
        return form
    }
}

extension ChosenAction {
    static var form: RequestForm<ChosenAction> {
        RequestForm { chosen in
            ControlRequest(arguments: [chosen.notification, chosen.action.rawValue])
        } read: { request in
            guard let action = NotificationAction(rawValue: request.arguments[1]) else {
                let names = NotificationAction.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(.invalid, "There is no such action; use one of \(names).")
            }
            return ChosenAction(action, on: request.arguments[0])
        }
    }
}

extension LogQuery {
    static let levelField = QueryField<LogQuery>(name: "level") {
        $0.level?.rawValue
    } read: { query, word in
        guard let level = LogLine.Level(rawValue: word) else {
            let words = LogLine.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.invalid, "There is no such level; use one of \(words).")
        }
        query.level = level
    }
}
