public import StarwatchCore

/// What an answer has to be, and what its failures are called.
///
/// Types come first: what does not decode as a `Response` is refused with the path of each field that is missing or of
/// another type. ``check`` then says what else is wrong.
public struct ResponseSchema<Response: Decodable & Sendable>: Sendable {
    /// Everything wrong with an answer that decodes; empty when it is good. By default nothing is.
    ///
    /// An issue's path names fields and indexes only, such as `$.releases[3].version`, and no values.
    public var check: @Sendable (Response) -> [ValidationIssue] = { _ in [] }
    /// Gives a failed request, or a refused answer, the host's own code, message or delay. By default it stays.
    public var transformError: @Sendable (PollError) -> PollError = { $0 }

    public init() {}

    /// - Parameter check: See ``check``.
    public init(check: @escaping @Sendable (Response) -> [ValidationIssue]) {
        self.check = check
    }
}
