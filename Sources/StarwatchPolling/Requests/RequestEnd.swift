package import StarwatchCore
package import StarwatchStore
import StarwatchTransport

/// The end of a logical request, and its cost.
package struct RequestEnd: Sendable {
    /// The failure; `nil` after a success.
    package internal(set) var failure: RequestFailure?
    /// The number of attempts.
    package private(set) var tries = 0
    /// `X-Request-ID` of the last attempt; empty if nothing was sent.
    package private(set) var requestID = ""
    /// The server's identifier of the last attempt.
    package private(set) var serverRequestID: String?
    /// The HTTP status of the last answer; `nil` without one.
    package private(set) var status: Int?
    /// Duration of the last attempt.
    package private(set) var duration = Duration.zero
    /// The time since the machine's start at which the last attempt was sent.
    package private(set) var sentAt = Duration.zero

    /// The identifiers of the last attempt; `nil` if nothing was sent.
    package var trace: RequestTrace? {
        requestID.isEmpty ? nil : RequestTrace(id: requestID, serverID: serverRequestID)
    }

    /// Begins an attempt, which has an identifier of its own.
    mutating func begin(at boottime: Duration) {
        tries += 1
        (requestID, sentAt) = (RandomID.uuid(), boottime)
    }

    mutating func note(_ exchange: HTTPExchange) {
        (status, duration) = (exchange.response?.status, exchange.measurements.total)
        serverRequestID = exchange.response?.requestID
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

    /// The failure to report to the circuit.
    package var circuitFailure: FailureClass {
        switch self {
        case .failed(let failure), .deferred(_, let failure?): failure.failureClass
        // Nothing was sent, so the server's state is unknown.
        case .deferred(_, nil), .noToken, .unstored: .cancelled
        }
    }
}

extension APIFailure {
    /// The agent is stopping, or the identity changed.
    package static let cancelled = APIFailure(
        result: .cancelled,
        failureClass: .cancelled,
        reason: "The request was cancelled."
    )
}
