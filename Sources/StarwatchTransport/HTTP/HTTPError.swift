package import StarwatchCore

/// Why a request brought no answer.
package enum HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The time limit passed before the last byte.
    case timeout
    /// The server's name did not resolve.
    case dns
    /// No connection could be made.
    case connect
    /// The handshake failed, or the certificate or pinned key is not the right one.
    case tls
    /// The connection ended before the answer did.
    case reset
    /// The answer's body is larger than the request allows, or its head than 256 KiB.
    case tooLarge
    /// The task was cancelled or the client shut down.
    case cancelled
    /// What came is not HTTP, or cannot be decompressed.
    case malformed
    /// The URL or a header cannot be sent.
    case invalidRequest
    /// The client cannot be set up; the text names the setting and what to do.
    case configuration(String)

    /// How the metrics count it.
    package var result: RequestResult {
        switch self {
        case .timeout: .timeout
        case .dns: .dns
        case .connect: .connect
        case .tls: .tls
        case .reset: .reset
        case .tooLarge: .tooLarge
        case .cancelled: .cancelled
        case .malformed: .malformed
        case .invalidRequest, .configuration: .badRequest
        }
    }

    /// What it means for trying again.
    package var failureClass: FailureClass {
        switch self {
        case .timeout: .timeout
        case .dns, .connect, .tls, .reset: .network
        case .tooLarge, .malformed: .malformed
        case .cancelled: .cancelled
        case .invalidRequest, .configuration: .refused
        }
    }

    package var description: String {
        switch self {
        case .timeout: "The server did not answer completely within the time limit; raise server.timeout if it is slow."
        case .dns: "The server's name does not resolve; check server.url and the resolver."
        case .connect: "No connection to the server; check that it runs and that the network lets us through."
        case .tls: "The TLS handshake failed; check the certificate, server.ca_file and server.pinned_public_key."
        case .reset: "The connection ended before the answer did."
        case .tooLarge: "The answer is larger than server.max_response, or its head than 256 KiB."
        case .cancelled: "The request was cancelled."
        case .malformed: "The answer is not valid HTTP."
        case .invalidRequest: "The request's URL or a header holds characters that cannot be sent."
        case .configuration(let advice): advice
        }
    }
}
