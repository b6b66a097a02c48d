package import StarwatchCore
package import StarwatchStore
package import StarwatchTransport

/// The limits of one logical request, across its tokens and attempts.
package struct RequestTerms: Sendable {
    package var account: DID?
    /// The number of identifiers that the request acknowledges; they have their own limit.
    package var identifiers = 0
    package var retries = RequestRetries.policy(nil)
    package var patience = RequestPatience.inline
    /// Returns a token, or `nil` to send none. Its argument is the token that the server rejected, if any.
    package var token: @Sendable (_ refused: AccessToken?) async throws -> AccessToken?
    package var observer: (any RequestObserver)?

    package init(
        account: DID?,
        observer: (any RequestObserver)? = nil,
        token: @escaping @Sendable (_ refused: AccessToken?) async throws -> AccessToken?
    ) {
        (self.account, self.observer, self.token) = (account, observer, token)
    }
}

/// Retries of a failed attempt.
package enum RequestRetries: Sendable {
    /// Retries by the policy of each failure class. A host's policy replaces it, except for a rejected token.
    case policy(RetryPolicy?)
    /// Retries with the waits of each failure class and this number of attempts, except for a rejected token.
    case attempts(Int)
    /// Retries only with a new token, after a rejected one. The caller schedules its own retries.
    case tokenOnly
    case never
}

/// The maximum wait of a request for a turn.
package enum RequestPatience: Sendable {
    /// ``RetryDecision/longestInlineWait``.
    case inline
    /// The request must be sent before this time.
    case before(Timestamp)
}

/// One attempt of a request.
package struct RequestAttempt: Sendable {
    package let token: AccessToken?
    /// The number of the attempt, from 1.
    package let number: Int
    /// `X-Request-ID`, new for every attempt.
    package let requestID: String
    /// The time at which the request was counted, by the local clock.
    package let admittedAt: Timestamp
    /// The clock of the server; `nil` if it is not measured.
    let clock: (any ServerTime)?
    let time: any TimeSource

    /// Learns the server's time from the answer to this attempt, then gives it to `take`.
    ///
    /// - Parameter take: Takes the content of a 2xx or 304 response, or returns the failure that it is. `askedAt` is the
    ///   server's time at which the request was sent, as far as it is known.
    package func read(
        _ exchange: HTTPExchange,
        _ take: @escaping @Sendable (HTTPResponse, _ askedAt: Timestamp) -> APIFailure?
    ) async -> Exchange {
        let report = RequestReport(exchange)
        if report.status != nil {
            clock?.observe(
                serverTime: report.serverTime,
                date: report.date,
                age: report.hasAge ? "" : nil,
                sentAt: report.sentAt.wall,
                roundTrip: report.roundTrip
            )
        }
        let askedAt = (clock?.now ?? time.now) - report.duration
        return await exchange.read(report) { take($0, askedAt) }
    }
}

/// The reason why a request got no answer that can be used.
package enum RequestFailure: Error, Sendable {
    /// The wait is too long. `failure` is the response that asked for it; `nil` if nothing was sent.
    case deferred(until: Timestamp, failure: APIFailure?)
    case failed(APIFailure)
    /// There is no token to send.
    case noToken(any Error)
    /// Nothing was sent: the database could not read or store the rate limits.
    case unstored(StoreError)

    /// The failure to report to the circuit.
    package var circuitFailure: FailureClass {
        switch self {
        case .failed(let failure), .deferred(_, let failure?): failure.failureClass
        // Nothing was sent, so the server's state is unknown.
        case .deferred(_, nil), .noToken, .unstored: .cancelled
        }
    }
}

/// The end of a logical request, and its cost.
package struct RequestEnd: Sendable {
    /// The failure; `nil` after a success.
    package internal(set) var failure: RequestFailure?
    package internal(set) var tries = 0
    /// `X-Request-ID` of the last attempt; empty if nothing was sent.
    package internal(set) var requestID = ""
    /// The server's identifier of the last attempt.
    package internal(set) var serverRequestID: String?
    /// The HTTP status of the last answer; `nil` without one.
    package internal(set) var status: Int?
    /// Duration of the last attempt.
    package internal(set) var duration = Duration.zero
    /// The time since the machine's start at which the last attempt was sent.
    package internal(set) var sentAt = Duration.zero

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
    func tried(_ report: RequestReport, _ attempt: RequestAttempt)
    func failed(_ failure: APIFailure, _ attempt: RequestAttempt, _ report: RequestReport) async
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

extension RequestReport {
    /// The time from the request to the response. If the machine slept or the wall clock was set, the two clocks
    /// disagree. The result is then large, so the response says little about the server's clock.
    fileprivate var roundTrip: Duration {
        let wall = receivedAt.wall - sentAt.wall
        let monotonic = receivedAt.monotonic - sentAt.monotonic
        let difference = wall > monotonic ? wall - monotonic : monotonic - wall
        return difference > .seconds(1) ? max(monotonic, difference) : monotonic
    }
}
