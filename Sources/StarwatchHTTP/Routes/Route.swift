import Starwatch

/// What a path can do, by method; `HEAD` is `GET` without the body.
typealias Handlers = [String: @Sendable (Call) async throws(ControlError) -> Answer]

/// A path of a server, and what it can do there.
struct Route: Sendable {
    /// As the OpenAPI document writes it: `/api/v1/polls/{name}/run`. A part in braces takes any text but an empty one.
    let path: String
    private let parts: [String]
    private let make: @Sendable (_ arguments: [String]) -> Handlers

    /// - Parameter make: Given what stands in the place of the parts in braces, in their order.
    init(_ path: String, _ make: @escaping @Sendable (_ arguments: [String]) -> Handlers) {
        self.path = path
        self.make = make
        parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    init(_ path: String, _ handlers: Handlers) {
        self.init(path) { _ in handlers }
    }

    /// Without `HEAD`.
    var methods: [String] { make(parts.filter(Self.isArgument)).keys.sorted() }

    /// `nil`: the path is another one.
    func handlers(for path: [String]) -> Handlers? {
        guard path.count == parts.count else { return nil }
        var arguments: [String] = []
        for (given, part) in zip(path, parts) {
            if !Self.isArgument(part) {
                guard given == part else { return nil }
            } else if given.isEmpty {
                return nil
            } else {
                arguments.append(given)
            }
        }
        return make(arguments)
    }

    private static func isArgument(_ part: String) -> Bool { part.hasPrefix("{") }
}

extension [Route] {
    /// The first route of that path counts; `nil`: there is no such path.
    func handlers(for path: [String]) -> Handlers? {
        for route in self {
            if let handlers = route.handlers(for: path) { return handlers }
        }
        return nil
    }
}
