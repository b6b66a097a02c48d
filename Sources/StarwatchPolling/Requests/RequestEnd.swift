package import StarwatchCore
package import StarwatchStore
import StarwatchTransport

/// The end of a logical request, and its cost.
package struct RequestEnd: Sendable {
    /// The failure; `nil` after a success.
    package internal(set) var failure: RequestFailure?
    /// The number of attempts.
    package private(set) var tries = 0
    /// The identifiers of the last attempt; `nil` if nothing was sent.
    package private(set) var trace: RequestTrace?
    /// The HTTP status of the last answer; `nil` without one.
    package private(set) var status: Int?
    /// Duration of the last attempt.
    package private(set) var duration = Duration.zero
    /// The time since the machine's start at which the last attempt was sent.
    package private(set) var sentAt = Duration.zero

    /// `X-Request-ID` of the last attempt; empty if nothing was sent.
    package var requestID: String { trace?.id ?? "" }

    /// Begins an attempt, which has an identifier of its own.
    mutating func begin(at boottime: Duration) {
        tries += 1
        (trace, sentAt) = (RequestTrace(id: RandomID.uuid(), serverID: nil), boottime)
    }

    mutating func note(_ exchange: HTTPExchange) {
        (status, duration) = (exchange.response?.status, exchange.measurements.total)
        trace?.serverID = exchange.response?.requestID
    }
}

/// The reason why a request got no answer that can be used. Indirect, because every call hands it on, and few have one.
package indirect enum RequestFailure: Error, Sendable {
    /// The wait is too long. `failure` is the response that asked for it; `nil` if nothing was sent.
    case deferred(until: Timestamp, failure: APIFailure?)
    case failed(APIFailure)
    /// There is no token to send.
    case noToken(any Error)
    /// Nothing was sent: the database could not read or store the rate limits.
    case unstored(StoreError)

    /// The same in the words of all layers.
    package var failure: APIFailure {
        switch self {
        case .failed(let failure), .deferred(_, let failure?): failure
        case .deferred(_, nil): APIFailure(.rateLimit)
        case .noToken(let error): APIFailure(noToken: error)
        case .unstored(.leaseLost): APIFailure(.identityChanged)
        case .unstored(let error): APIFailure(.database, error.description)
        }
    }

    /// The failure to report to the circuit.
    package var circuitFailure: FailureClass {
        switch self {
        case .failed, .deferred(_, _?): failure.failureClass
        // Nothing was sent, so the server's state is unknown.
        case .deferred(_, nil), .noToken, .unstored: .cancelled
        }
    }
}
