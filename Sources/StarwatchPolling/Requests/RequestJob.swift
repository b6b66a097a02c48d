package import StarwatchCore
package import StarwatchStore
package import StarwatchTransport

/// One logical request, whatever tokens and tries it takes: its limits, and how it is sent.
package struct RequestJob: Sendable {
    /// One try.
    package struct Try: Sendable {
        package let token: AccessToken?
        /// From 1.
        package let number: Int
        /// `X-Request-ID`: another for every try.
        package let requestID: String
        /// The time at which the request was counted, by the local clock.
        package let admittedAt: Timestamp
    }

    /// How a failed try is followed by another.
    package enum Retries: Sendable {
        /// By the policy of each class of failures; a host's own policy replaces it, except for a refused token.
        case policy(RetryPolicy?)
        /// Only with a new token, after a refused one: the caller keeps its own schedule of tries.
        case tokenOnly
        case never
    }

    /// The longest wait for a turn.
    package enum Patience: Sendable {
        /// ``RetryDecision/longestInlineWait``.
        case inline
        /// The request must be sent before this time.
        case before(Timestamp)
    }

    package var account: DID?
    /// Identifiers that the request acknowledges; they have a limit of their own.
    package var identifiers = 0
    package var retries = Retries.policy(nil)
    package var patience = Patience.inline
    /// Returns a token, or `nil` to send none. Its argument is the token that the server refused, if any.
    package var token: @Sendable (_ refused: AccessToken?) async throws -> AccessToken?
    /// Sends one try and classifies its answer.
    package var send: @Sendable (Try) async -> Exchange
    package var observer: any RequestObserver

    package init(
        account: DID?,
        observer: any RequestObserver = UnobservedRequest(),
        token: @escaping @Sendable (_ refused: AccessToken?) async throws -> AccessToken?,
        send: @escaping @Sendable (Try) async -> Exchange
    ) {
        self.account = account
        self.observer = observer
        self.token = token
        self.send = send
    }
}

/// How a logical request ended.
package enum RequestEnd: Sendable {
    /// - Parameter askedAt: The server's time when the request was sent, as well as it is known.
    case answer(HTTPResponse, askedAt: Timestamp)
    /// The wait is too long to sit out. `failure` is the answer that asked for it; `nil`: nothing was sent.
    case deferred(until: Timestamp, failure: APIFailure?)
    case failed(APIFailure)
    /// There is no token to send.
    case noToken(any Error)
    /// Nothing was sent: the database could not say, or store, what the limits allow.
    case unstored(StoreError)
}

/// The end of a logical request, and what it took.
package struct RequestReply: Sendable {
    package let end: RequestEnd
    package let tries: Int
    /// `X-Request-ID` of the last try; empty when nothing was sent.
    package let requestID: String
}

/// A receiver of the steps of a request, for metrics and logs. Each step does nothing by default.
package protocol RequestObserver: Sendable {
    /// The request must wait.
    func throttled(by source: ThrottleSource, for wait: Duration)
    /// It is the request's turn; its token is next.
    func turnCame()
    /// A try ended.
    func tried(_ exchange: Exchange) async
    /// A try failed.
    func failed(_ failure: APIFailure, try number: Int, token: AccessToken?) async
    /// Another try follows after `delay`; `nil`: at once, with a new token.
    func retrying(because reason: RetryReason, after delay: Duration?)
    /// All tries are used up.
    func exhausted(because reason: RetryReason)
}

extension RequestObserver {
    package func throttled(by source: ThrottleSource, for wait: Duration) {}
    package func turnCame() {}
    package func tried(_ exchange: Exchange) async {}
    package func failed(_ failure: APIFailure, try number: Int, token: AccessToken?) async {}
    package func retrying(because reason: RetryReason, after delay: Duration?) {}
    package func exhausted(because reason: RetryReason) {}
}

/// The observer of a request that nobody watches.
package struct UnobservedRequest: RequestObserver {
    package init() {}
}

extension APIFailure {
    /// The agent is stopping, or the identity changed.
    package static let cancelled = APIFailure(
        result: .cancelled,
        failureClass: .cancelled,
        reason: "The request was cancelled."
    )
}
