package import StarwatchCore
package import StarwatchStore
package import StarwatchTransport

/// One logical request, across its tokens and attempts: its limits and its sending.
package struct RequestJob: Sendable {
    /// One attempt.
    package struct Try: Sendable {
        package let token: AccessToken?
        /// The number of the attempt, from 1.
        package let number: Int
        /// `X-Request-ID`, new for every attempt.
        package let requestID: String
        /// The time at which the request was counted, by the local clock.
        package let admittedAt: Timestamp
    }

    /// Retries of a failed attempt.
    package enum Retries: Sendable {
        /// Retries by the policy of each failure class. A host's policy replaces it, except for a rejected token.
        case policy(RetryPolicy?)
        /// Retries only with a new token, after a rejected one. The caller schedules its own retries.
        case tokenOnly
        case never
    }

    /// The maximum wait for a turn.
    package enum Patience: Sendable {
        /// ``RetryDecision/longestInlineWait``.
        case inline
        /// The request must be sent before this time.
        case before(Timestamp)
    }

    package var account: DID?
    /// The number of identifiers that the request acknowledges; they have their own limit.
    package var identifiers = 0
    package var retries = Retries.policy(nil)
    package var patience = Patience.inline
    /// Returns a token, or `nil` to send none. Its argument is the token that the server rejected, if any.
    package var token: @Sendable (_ refused: AccessToken?) async throws -> AccessToken?
    /// Sends one attempt and classifies its response.
    package var send: @Sendable (Try) async -> Exchange
    package var observer: (any RequestObserver)?

    package init(
        account: DID?,
        observer: (any RequestObserver)? = nil,
        token: @escaping @Sendable (_ refused: AccessToken?) async throws -> AccessToken?,
        send: @escaping @Sendable (Try) async -> Exchange
    ) {
        self.account = account
        self.observer = observer
        self.token = token
        self.send = send
    }
}

/// Outcome of a logical request.
package enum RequestEnd: Sendable {
    /// - Parameter askedAt: The server's time at which the request was sent, as far as it is known.
    case answer(HTTPResponse, askedAt: Timestamp)
    /// The wait is too long. `failure` is the response that asked for it; `nil` if nothing was sent.
    case deferred(until: Timestamp, failure: APIFailure?)
    case failed(APIFailure)
    /// There is no token to send.
    case noToken(any Error)
    /// Nothing was sent: the database could not read or store the rate limits.
    case unstored(StoreError)

    /// The failure to report to the circuit; `nil` for a success.
    package var circuitFailure: FailureClass? {
        switch self {
        case .answer: nil
        case .failed(let failure), .deferred(_, let failure?): failure.failureClass
        // Nothing was sent, so the server's state is unknown.
        case .deferred(_, nil), .noToken, .unstored: .cancelled
        }
    }
}

/// The outcome of a logical request, and its cost.
package struct RequestReply: Sendable {
    package let end: RequestEnd
    package let tries: Int
    /// `X-Request-ID` of the last attempt; empty if nothing was sent.
    package let requestID: String
    /// The server's identifier of the last attempt.
    package let serverRequestID: String?
    /// Duration of the last attempt.
    package let duration: Duration

    /// The identifiers of the last attempt; `nil` if nothing was sent.
    package var trace: RequestTrace? {
        requestID.isEmpty ? nil : RequestTrace(id: requestID, serverID: serverRequestID)
    }
}

/// A receiver of the steps of a request, for metrics and logs.
package protocol RequestObserver: Sendable {
    /// The request must wait: for its turn, or because an answer asked for it.
    func throttled(by source: ThrottleSource, for wait: Duration)
    /// The request's turn came; its token is next.
    func turnCame()
    /// An attempt ended.
    func tried(_ exchange: Exchange, _ attempt: RequestJob.Try) async
    /// An attempt failed.
    func failed(_ failure: APIFailure, _ attempt: RequestJob.Try, _ report: RequestReport) async
    /// Another attempt follows after `delay`; `nil`: at once, with a new token.
    func retrying(because reason: RetryReason, after delay: Duration?)
    /// No attempts are left.
    func exhausted(because reason: RetryReason)
}

extension APIFailure {
    /// The agent is stopping, or the identity changed.
    package static let cancelled = APIFailure(
        result: .cancelled,
        failureClass: .cancelled,
        reason: "The request was cancelled."
    )
}
