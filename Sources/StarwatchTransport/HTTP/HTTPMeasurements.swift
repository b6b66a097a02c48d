package import StarwatchCore

/// A moment, by both clocks.
package struct ClockReading: Sendable, Hashable {
    package var wall: Timestamp
    /// Time since an origin that does not change while the process runs.
    package var monotonic: Duration

    package init(wall: Timestamp, monotonic: Duration) {
        self.wall = wall
        self.monotonic = monotonic
    }

    static func - (reading: ClockReading, duration: Duration) -> ClockReading {
        ClockReading(wall: reading.wall - duration, monotonic: reading.monotonic - duration)
    }
}

/// What one request cost.
package struct HTTPMeasurements: Sendable {
    /// Resolving the name, connecting and the TLS handshake: zero when a connection was reused.
    package var dns: Duration = .zero
    package var connect: Duration = .zero
    package var tls: Duration = .zero
    /// From the end of the phase before to the first byte of the answer; zero when none came.
    package var firstByte: Duration = .zero
    /// From the first byte of the answer to the last.
    package var transfer: Duration = .zero
    /// From the start of the transfer to its end, as libcurl saw it.
    package var total: Duration = .zero
    /// Head and body, as sent.
    package var sentBytes: Int = 0
    /// Head and body, before decompression.
    package var receivedBytes: Int = 0
    /// Whether a connection was opened for this request.
    package var isNewConnection = false
    /// When the request began to be written, or when the call was made if it never was.
    package var sentAt: ClockReading
    /// When the last byte of the answer was there, or the request failed; taken on the thread that saw it.
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
