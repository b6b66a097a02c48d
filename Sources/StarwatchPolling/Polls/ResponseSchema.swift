public import StarwatchCore

/// The expected answer, and the naming of its failures.
///
/// Types come first: an answer that does not decode as a `Response` is rejected, with the path of each field that is
/// missing or of another type. ``check`` then reports other problems.
public struct ResponseSchema<Response: Decodable & Sendable>: Sendable {
    /// Every problem of a decoded answer; empty if it is valid. By default there are none.
    ///
    /// An issue's path names fields and indexes only, such as `$.releases[3].version`, and no values.
    public var check: @Sendable (Response) -> [ValidationIssue] = { _ in [] }
    /// Gives a failed request or a rejected answer the host's own code, message or delay. By default it stays
    /// unchanged.
    public var transformError: @Sendable (PollError) -> PollError = { $0 }

    public init() {}

    /// - Parameter check: See ``check``.
    public init(check: @escaping @Sendable (Response) -> [ValidationIssue]) {
        self.check = check
    }
}
