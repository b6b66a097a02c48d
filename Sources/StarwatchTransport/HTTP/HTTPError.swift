package import StarwatchCore

/// The reason for a missing response.
package enum HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The timeout passed before the last byte of the response.
    case timeout
    /// The server's name did not resolve.
    case dns
    /// The connection failed.
    case connect
    /// The handshake failed, or the certificate or pinned key does not match.
    case tls
    /// The connection closed before the response was complete.
    case reset
    /// The response's body exceeds the request's limit, or its head exceeds 256 KiB.
    case tooLarge
    /// The task was cancelled, or the client was shut down.
    case cancelled
    /// The response is not HTTP, or cannot be decompressed.
    case malformed
    /// The URL or a header contains characters that cannot be sent.
    case invalidRequest
    /// The client cannot be set up. The text names the setting and the fix.
    case configuration(String)

    /// The value of the metrics' `result` label.
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

    /// The class that decides about retries.
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
        case .timeout: "The response was not complete within server.timeout; raise it if the server is slow."
        case .dns: "The server's name does not resolve; check server.url and the resolver."
        case .connect: "The connection failed; check the server and the network."
        case .tls: "The TLS handshake failed; check the certificate, server.ca_file and server.pinned_public_key."
        case .reset: "The connection closed before the response was complete; check the server and the network."
        case .tooLarge: "The response exceeds server.max_response, or its headers exceed 256 KiB; check the server."
        case .cancelled: "The request was cancelled."
        case .malformed: "The response is not valid HTTP; check server.url and any proxy in between."
        case .invalidRequest: "The request's URL or a header contains invalid characters; check server.url."
        case .configuration(let advice): advice
        }
    }
}
