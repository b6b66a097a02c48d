package import StarwatchCore

/// A complete response of any status.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: HTTPHeaders
    /// The decompressed body.
    package let body: [UInt8]

    package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// The result and measurements of a request.
///
/// A class, because the frame of each call between the network and the reader would need room for its 250 bytes.
package final class HTTPExchange: Sendable {
    package let result: Result<HTTPResponse, APIFailure>
    package let measurements: HTTPMeasurements
    /// The response's status, even if its body was too large or incomplete; `nil` when no head arrived.
    package let status: Int?
    /// The system's error of a connection that could not be made; `nil` for any other end or if it is not known.
    package let connectErrno: Int32?
    /// The time when the chain of certificates of a new connection expires; `nil` without TLS, and on one in use before.
    package let certificateExpiry: Timestamp?
    /// The last reply of a mail server, also to what comes before a mail, such as the login; empty for HTTP.
    package let lastReply: [UInt8]

    /// The response; `nil` if none came, or not the whole of it.
    package let response: HTTPResponse?

    package init(
        result: Result<HTTPResponse, APIFailure>,
        measurements: HTTPMeasurements,
        status: Int? = nil,
        connectErrno: Int32? = nil,
        certificateExpiry: Timestamp? = nil,
        lastReply: [UInt8] = []
    ) {
        (self.result, self.measurements, self.status) = (result, measurements, status)
        (self.connectErrno, self.certificateExpiry) = (connectErrno, certificateExpiry)
        self.lastReply = lastReply
        response = if case .success(let response) = result { response } else { nil }
    }
}

/// One moment on the wall clock and on the monotonic clock.
package struct ClockReading: Sendable, Hashable {
    package var wall: Timestamp
    /// Time since an origin that is fixed for the life of the process.
    package var monotonic: Duration

    package init(wall: Timestamp, monotonic: Duration) {
        self.wall = wall
        self.monotonic = monotonic
    }

    static func - (reading: ClockReading, duration: Duration) -> ClockReading {
        ClockReading(wall: reading.wall - duration, monotonic: reading.monotonic - duration)
    }
}

/// The durations, byte counts and times of one request.
package struct HTTPMeasurements: Sendable {
    /// Name lookup; zero when a connection was reused.
    package var dns: Duration = .zero
    /// TCP connect; zero when a connection was reused.
    package var connect: Duration = .zero
    /// TLS handshake; zero when a connection was reused.
    package var tls: Duration = .zero
    /// From the end of the previous phase to the first byte of the response; zero when none arrived.
    package var firstByte: Duration = .zero
    /// From the first byte of the response to the last.
    package var transfer: Duration = .zero
    /// From the start of the transfer to its end, measured by libcurl.
    package var total: Duration = .zero
    /// Bytes of head and body, as sent.
    package var sentBytes: Int = 0
    /// Bytes of head and body, before decompression.
    package var receivedBytes: Int = 0
    /// Whether a connection was opened for this request.
    package var isNewConnection = false
    /// Time of writing the request; the time of the call if it was never written.
    package var sentAt: ClockReading
    /// Time of the response's last byte, or of the failure, read on the client's thread.
    package var receivedAt: ClockReading

    package init(sentAt: ClockReading, receivedAt: ClockReading) {
        self.sentAt = sentAt
        self.receivedAt = receivedAt
    }

    /// The duration of `phase`.
    package subscript(phase: RequestPhase) -> Duration {
        switch phase {
        case .dns: dns
        case .connect: connect
        case .tls: tls
        case .firstByte: firstByte
        case .transfer: transfer
        }
    }
}
