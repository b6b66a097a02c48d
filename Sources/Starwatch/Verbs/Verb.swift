import StarwatchTransport

/// A verb of the control API: its request, its answer and its work.
///
/// ```swift
/// let report = try await agent.perform(ControlAPI.fetchDigest, "daily")
/// ```
///
/// A server finds the verb by its path, an agent does the work, and a ``ControlClient`` sends the request.
package struct Verb<Input: Sendable, Answer: Codable & Sendable>: Sendable {
    let httpMethod: HTTPRequest.Method
    /// The path as the OpenAPI document writes it: `/api/v1/polls/{name}/run`.
    package let path: String
    /// The place of the input in the request.
    package let form: RequestForm<Input>
    /// What happens, as the beginning of a sentence, if only the control socket may do it, because a key is in the
    /// request; `nil` for other verbs.
    package let onSocketOnly: String?
    /// Whether an agent answers at once, so that a client does not wait for long.
    let isImmediate: Bool
    let work: @Sendable (Agent, Input) async throws -> Answer

    package var method: String { httpMethod.rawValue }

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        taking form: RequestForm<Input>,
        onSocketOnly: String? = nil,
        work: @escaping @Sendable (Agent, Input) async throws -> Answer
    ) {
        (httpMethod, self.path, self.form, self.onSocketOnly) = (method, path, form, onSocketOnly)
        isImmediate = false
        self.work = work
    }
}

extension Verb where Input == Void {
    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        isImmediate: Bool = false,
        work: @escaping @Sendable (Agent) async throws -> Answer
    ) {
        (httpMethod, self.path, self.form, self.isImmediate) = (method, path, .none, isImmediate)
        onSocketOnly = nil
        self.work = { agent, _ in try await work(agent) }
    }
}

/// Any verb, for lists of them.
package protocol AnyVerb<Input, Answer>: Sendable {
    associatedtype Input: Sendable
    associatedtype Answer: Codable & Sendable

    var verb: Verb<Input, Answer> { get }
}

extension Verb: AnyVerb {
    package var verb: Verb { self }
}

/// Who performs verbs: an agent itself, or a ``ControlClient`` of a running one.
package protocol AgentControl: Sendable {
    func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input
    ) async throws(ControlError) -> Answer
}

extension AgentControl {
    package func perform<Answer>(_ verb: Verb<Void, Answer>) async throws(ControlError) -> Answer {
        try await perform(verb, ())
    }
}

/// An agent that servers can serve: its verbs, and what only its own process can answer.
package protocol ServedAgent: AgentControl {
    /// The metrics page.
    func metrics(_ request: MetricsQuery) async -> MetricsAnswer
    /// The reasons why the agent is not ready: `starting`, `draining`, `store_unavailable`, `signed_out`; empty when it
    /// is.
    func notReady() async -> [String]
    /// The state of the check of the database's pages: `running`, `passed`, `damaged` or `ended`; `nil` if the database was
    /// closed in good order.
    var databaseCheck: String? { get }
    /// Returns whether local work progresses: the schedules are checked, and the store answers.
    func isHealthy() async -> Bool
    /// Counts and logs a request that a server refused.
    func noteRefusal(_ reason: ControlRefusal, at port: ServedPort)
    /// Shows the news of a port's web configuration in metrics and in the log.
    func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort)
    /// Follows the feed.
    ///
    /// - Parameter sequence: The sequence of the last notification before; `nil` for new ones only.
    func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader
}

extension Agent: ServedAgent {
    package func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input
    ) async throws(ControlError) -> Answer {
        do { return try await verb.work(self, input) } catch { throw ControlError(error) }
    }
}
