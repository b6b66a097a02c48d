package import StarwatchCore

/// The reason for a missing response.
package enum HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The timeout passed before the last byte of the response.
    case timeout
    /// The server's name did not resolve.
    case dns
    /// The connection failed.
    case connect
    /// The proxy opens no tunnel to the server.
    case proxy
    /// The process that listens on the Unix socket belongs to a user that is not accepted.
    case peer
    /// The handshake failed, or the certificate or pinned key does not match.
    case tls
    /// The certificate of the server has expired, by this machine's clock.
    case expired
    /// The server does not accept the user or the password of a mail.
    case login
    /// The server of a mail offers no encryption, which is demanded.
    case unencrypted
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

    /// The value of the metrics' `result` label: the word of the cause, except for a request that cannot be sent.
    package var result: RequestResult {
        switch self {
        case .expired: .tls
        case .proxy: .connect
        default: RequestResult(rawValue: cause.rawValue) ?? .badRequest
        }
    }

    /// The class that decides about retries.
    package var failureClass: FailureClass {
        switch self {
        case .timeout: .timeout
        case .dns, .connect, .proxy, .tls, .expired, .reset: .network
        case .tooLarge, .malformed: .malformed
        case .cancelled: .cancelled
        case .invalidRequest, .configuration, .peer, .login, .unencrypted: .refused
        }
    }

    /// The reason from a closed set.
    package var cause: FailureReason.Cause {
        switch self {
        case .timeout: .timeout
        case .dns: .dns
        case .connect: .connect
        case .proxy: .proxy
        case .tls, .unencrypted: .tls
        case .expired: .certificateExpired
        case .login: .noToken
        case .reset: .reset
        case .tooLarge: .tooLarge
        case .cancelled: .cancelled
        case .malformed: .malformed
        case .invalidRequest, .configuration, .peer: .invalidRequest
        }
    }

    package var description: String {
        if case .configuration(let advice) = self { advice } else { cause.sentence }
    }
}
