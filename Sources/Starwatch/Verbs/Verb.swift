package import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// A verb of the control API: its request, its answer and its work.
///
/// ```swift
/// let report = try await agent.perform(ControlAPI.fetchDigest, "daily")
/// ```
///
/// A server finds the verb by its path, the room of its topic does the work, and a ``ControlClient`` sends the request.
package struct Verb<Input: Sendable, Answer: Codable & Sendable>: Sendable {
    let httpMethod: HTTPRequest.Method
    /// The path as the OpenAPI document writes it: `/api/v1/polls/{name}/run`.
    package let path: String
    /// The operation that counts it; `nil` if nothing does.
    let operation: ControlOperation?
    /// The place of the input in the request.
    package let form: RequestForm<Input>
    /// The effect, as the beginning of a sentence, if only the control socket may do it, because a key is in the
    /// request; `nil` for other verbs.
    package let onSocketOnly: String?
    /// The longest wait of a client for the answer. By default a write has that of writes.
    package let patience: Duration
    let work: @Sendable (AgentTopics, Input) async throws -> Answer

    /// The word of the verb in the journal, from its path: `outbox.discard`. `nil` if it changes nothing. A reload notes
    /// itself, with what has changed.
    var journalWord: String? {
        guard httpMethod != .get, let operation, operation != .read, operation != .reload else { return nil }
        return path.split(separator: "/").dropFirst(2).filter { !$0.hasPrefix("{") }.joined(separator: ".")
    }

    package var method: String { httpMethod.rawValue }
    /// Whether the verb only reads, so that an agent that opened its database for reading can perform it.
    package var reads: Bool { httpMethod == .get }

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        counts operation: ControlOperation? = .read,
        taking form: RequestForm<Input>,
        onSocketOnly: String? = nil,
        patience: Duration? = nil,
        work: @escaping @Sendable (AgentTopics, Input) async throws -> Answer
    ) {
        (httpMethod, self.path, self.operation, self.form) = (method, path, operation, form)
        (self.onSocketOnly, self.work) = (onSocketOnly, work)
        self.patience = patience ?? (method == .get ? .usual : .ofWrites)
    }
}

extension Verb where Input == Void {
    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        counts operation: ControlOperation? = .read,
        patience: Duration? = nil,
        work: @escaping @Sendable (AgentTopics) async throws -> Answer
    ) {
        self.init(method, path, counts: operation, taking: .none, patience: patience) { topics, _ in
            try await work(topics)
        }
    }
}

/// The longest waits for an answer.
extension Duration {
    /// Most verbs take less than a second.
    static let usual = Duration.seconds(10)
    /// The server or a sink must answer too.
    static let ofServer = Duration.seconds(120)
    /// A sink must answer to one notification after the other, each within its time limit.
    static let ofSinkTest = SinkOptions.longestTimeout * TestNotification.allCases.count + .seconds(60)
    /// Work in progress must end first, or many rows change.
    static let ofWrites = Duration.seconds(60)
    /// A cycle ends after 10 minutes by default, and delivery follows.
    static let ofCycle = Duration.seconds(900)
    /// Every row is read or rewritten.
    static let ofWholeDatabase = Duration.seconds(900)
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

/// A performer of verbs: an agent itself, or a ``ControlClient`` of a running one.
package protocol AgentControl: Sendable {
    func perform<Input, Answer>(_ verb: Verb<Input, Answer>, _ input: Input) async throws(ControlError) -> Answer
}

extension AgentControl {
    package func perform<Answer>(_ verb: Verb<Void, Answer>) async throws(ControlError) -> Answer {
        try await perform(verb, ())
    }
}

/// An agent that servers can serve: its verbs, and what only its own process can answer.
package protocol ServedAgent: AgentControl {
    /// Performs a verb for an operator, who is noted in the journal.
    func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input,
        for caller: Operator
    ) async throws(ControlError) -> Answer
    func metrics(_ query: MetricsQuery) async -> MetricsAnswer
    /// The reasons why the agent is not ready: `starting`, `draining`, `signed_out`, `store_unavailable`, `store_damaged`,
    /// `store_lost`, `store_full`, `store_busy`; empty when it is.
    func notReady() async -> [String]
    /// The state of the check of the database's pages: `running`, `passed`, `damaged` or `ended`; `nil` if the database was
    /// closed in good order.
    var databaseCheck: String? { get }
    /// Returns whether local work progresses: the schedules are checked, and the store answers.
    func isHealthy() async -> Bool
    /// Counts and logs a request that a server refused.
    ///
    /// - Parameter client: The address or network of the client, for the log; `nil` on the Unix socket.
    func noteRefusal(_ reason: ControlRefusal, at port: ServedPort, of client: String?)
    /// Shows the news of a port's web configuration in metrics and in the log.
    func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort)
    /// Follows the feed of the active identity, or of the account that the caller names.
    ///
    /// - Parameter sequence: The sequence of the last notification before; `nil` for new ones only.
    func followFeed(after sequence: Int64?, for caller: Operator) async throws(ControlError) -> FeedReader
    /// The key of the feed of one of many accounts; `nil` if a token opens none.
    func feedKey(for token: String) async throws(ControlError) -> FeedKey?
}

/// The token that opens a feed without another credential.
package struct FeedKey: Sendable {
    package let token: String
    /// The one of many accounts whose feed it is; `nil` for the active identity.
    package let account: DID?

    package init(token: String, account: DID? = nil) { (self.token, self.account) = (token, account) }
}

extension AgentTopics: ServedAgent {
    package func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input
    ) async throws(ControlError) -> Answer { try await perform(verb, input, for: .program) }

    /// Performs a verb, counts it by its outcome, and notes it in the journal if it changes something.
    package func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input,
        for caller: Operator
    ) async throws(ControlError) -> Answer {
        try check(verb.operation, of: caller)
        // The status is that of the process, whose problems it shows.
        if let account = caller.account, verb.path != ControlAPI.status.path {
            var caller = caller
            caller.account = nil
            // A visit finds nothing new in the address of a feed.
            let changes = !verb.reads && verb.operation != .feedToken
            return try await about(account, changes: changes) { topics throws(ControlError) in
                try await topics.perform(verb, input, for: caller)
            }
        }
        func work() async throws(ControlError) -> Answer {
            try await counted(verb.operation) {
                try await Operator.$current.withValue(caller) { try await verb.work(self, input) }
            }
        }
        guard let word = verb.journalWord else { return try await work() }
        let target = (try? verb.form.write(input))?.journalTarget
        do throws(ControlError) {
            let answer = try await work()
            await process.journal.note(word, target, by: caller, failure: nil)
            return answer
        } catch {
            await process.journal.note(word, target, by: caller, failure: error)
            throw error
        }
    }

    package func metrics(_ query: MetricsQuery) async -> MetricsAnswer { await metrics.answer(query) }

    package func followFeed(after sequence: Int64?, for caller: Operator) async throws(ControlError) -> FeedReader {
        try check(.notificationsFollow, of: caller)
        guard let account = caller.account else {
            return try await counted(.notificationsFollow) { try await notifications.followFeed(after: sequence) }
        }
        return try await about(account, changes: false) { topics throws(ControlError) in
            try await topics.followFeed(after: sequence, for: .program)
        }
    }

    package func feedKey(for token: String) async throws(ControlError) -> FeedKey? {
        try await counted(nil) {
            try await process.store.feed.owner(of: token).map { FeedKey(token: $0.token, account: $0.account) }
        }
    }

    /// - Throws: In a process that serves many accounts, if the operation needs one of them and the caller names none.
    private func check(_ operation: ControlOperation?, of caller: Operator) throws(ControlError) {
        guard areOfNobody, let problem = operation?.problemOfMany(namesAccount: caller.account != nil) else { return }
        throw ControlError(.conflict, problem)
    }
}

extension Agent: AgentControl {
    package func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input
    ) async throws(ControlError) -> Answer {
        try await topics.perform(verb, input)
    }
}
