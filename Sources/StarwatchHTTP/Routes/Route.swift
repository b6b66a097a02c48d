import Starwatch

/// A verb of a server: a method, a path, and the work.
struct Route: Sendable {
    /// Answers a request. Any error becomes a ``ControlError``.
    typealias Handler = @Sendable (Call) async throws -> Answer

    /// The method. `HEAD` is `GET` without the body.
    let method: String
    /// The path as the OpenAPI document writes it: `/api/v1/polls/{name}/run`. A part in braces matches any text but an
    /// empty one.
    let path: String
    let handler: Handler
    private let parts: [String]

    init(_ method: String, _ path: String, _ handler: @escaping Handler) {
        (self.method, self.path, self.handler) = (method, path, handler)
        parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// The route of a verb, which answers with JSON.
    ///
    /// - Parameters:
    ///   - check: Throws if the request must not reach the agent.
    ///   - finish: Changes the answer.
    init<Input, Value>(
        _ verb: Verb<Input, Value>,
        of agent: any ServedAgent,
        check: @escaping @Sendable (Call) throws -> Void = { _ in },
        finish: @escaping @Sendable (inout Answer, Call) -> Void = { _, _ in }
    ) {
        self.init(verb.method, verb.path) { call in
            try check(call)
            let caller = try call.callerOfAccount()
            var answer = Answer.json(try await agent.perform(verb, try verb.form.read(call.request), for: caller))
            finish(&answer, call)
            return answer
        }
    }

    /// The texts in the places of the parts in braces; `nil` if the path is another one.
    func arguments(in path: [String]) -> [String]? {
        guard path.count == parts.count else { return nil }
        var arguments: [String] = []
        for (given, part) in zip(path, parts) {
            if part.hasPrefix("{") {
                guard !given.isEmpty else { return nil }
                arguments.append(given)
            } else if given != part {
                return nil
            }
        }
        return arguments
    }
}

extension [Route] {
    /// The routes of a path, by method, and its arguments; `nil` if there is no such path.
    ///
    /// If several paths match, the first one in the table counts.
    func match(_ path: [String]) -> (handlers: [String: Route.Handler], arguments: [String])? {
        for route in self {
            guard let arguments = route.arguments(in: path) else { continue }
            let same = filter { $0.path == route.path }
            return (Dictionary(uniqueKeysWithValues: same.map { ($0.method, $0.handler) }), arguments)
        }
        return nil
    }
}
