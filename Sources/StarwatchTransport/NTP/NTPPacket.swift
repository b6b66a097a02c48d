package import StarwatchCore

/// The fields of an NTP message that a client needs. The message has 48 bytes and optional extensions (RFC 5905, 7.3).
struct NTPPacket: Sendable, Hashable {
    static let length = 48
    /// Greatest accepted error of the server's clock (RFC 5905's MAXDIST).
    static let largestDistanceNanoseconds: Int64 = 1_500_000_000

    let leap: UInt8
    let version: UInt8
    let mode: UInt8
    let stratum: UInt8
    /// Round trip from the server to its reference clock: 16 bits of seconds and 16 bits of a fraction.
    let rootDelay: UInt32
    /// Error bound of the server's clock, in the same format.
    let rootDispersion: UInt32
    /// The reference identifier; a code of four letters in a kiss-o'-death packet.
    let reference: UInt32
    let originate: NTPTimestamp
    let receive: NTPTimestamp
    let transmit: NTPTimestamp

    /// A client's request.
    ///
    /// - Parameter nonce: Sent in place of the local time, to keep that private. The response must repeat it.
    static func request(nonce: UInt64) -> [UInt8] {
        // No leap second warning, version 4, mode 3 (client).
        [0b00_100_011] + Array(repeating: 0, count: 39) + withUnsafeBytes(of: nonce.bigEndian, Array.init)
    }

    /// Parses a message; `nil` when `bytes` has fewer than 48.
    init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(Self.length))
        guard bytes.count == Self.length else { return nil }
        func number<Number: FixedWidthInteger>(at start: Int) -> Number {
            bytes[start..<start + Number.bitWidth / 8].reduce(0) { $0 << 8 | Number($1) }
        }
        leap = bytes[0] >> 6
        version = bytes[0] >> 3 & 7
        mode = bytes[0] & 7
        stratum = bytes[1]
        rootDelay = number(at: 4)
        rootDispersion = number(at: 8)
        reference = number(at: 12)
        originate = NTPTimestamp(bits: number(at: 24))
        receive = NTPTimestamp(bits: number(at: 32))
        transmit = NTPTimestamp(bits: number(at: 40))
    }

    /// The sample of the server's clock that this response gives.
    ///
    /// The response holds the times of receipt and of sending, so the server's processing time does not widen the
    /// bounds. The server's own error bound does.
    ///
    /// - Throws: ``NTPError`` when the response is invalid, or the server refuses or is not synchronised.
    func sample(sent: ClockReading, received: ClockReading) throws(NTPError) -> ClockSample {
        guard mode == 4, (1...4).contains(version) else { throw .malformed }
        // Kiss-o'-death. Any other code means that the server is not ready.
        if stratum == 0, reference == Self.rate { throw .rateLimited }
        if stratum == 0, Self.refusals.contains(reference) { throw .refused }
        guard stratum > 0 else { throw .unsynchronised }
        guard leap != 3, stratum < 16 else { throw .unsynchronised }
        guard !receive.isZero, !transmit.isZero else { throw .malformed }
        let distance = ((Int64(rootDelay) / 2 + Int64(rootDispersion)) * 1_000_000_000) >> 16
        guard distance <= Self.largestDistanceNanoseconds else { throw .unsynchronised }
        let elapsed = received.monotonic - sent.monotonic
        let answering = transmit.nanoseconds - receive.nanoseconds
        // The local clock, and possibly the server's, has a resolution of one millisecond.
        guard answering >= 0, .nanoseconds(answering) <= elapsed + .milliseconds(1) else { throw .malformed }
        let skipped = Duration.milliseconds(answering / 1_000_000)
        let earliest = transmit.nanoseconds - distance
        let milliseconds = (earliest - (earliest % 1_000_000 + 1_000_000) % 1_000_000) / 1_000_000
        return ClockSample(
            source: .ntp,
            serverTime: Timestamp(milliseconds: milliseconds),
            resolution: .milliseconds((2 * distance + 999_999) / 1_000_000 + 1),
            sentAt: sent.wall + skipped,
            roundTrip: max(elapsed - skipped, .zero)
        )
    }

    /// The code "RATE".
    private static let rate: UInt32 = 0x5241_5445
    /// The codes "DENY" and "RSTR".
    private static let refusals: Set<UInt32> = [0x4445_4e59, 0x5253_5452]
}

/// An NTP time: seconds since 1900 and a fraction, 32 bits each (RFC 5905, 6).
///
/// The seconds overflow in February 2036. Their highest bit distinguishes the two eras: when it is set the time is
/// between 1968 and 2036, else between 2036 and 2104 (RFC 4330, 3). The local clock is not needed for that.
struct NTPTimestamp: Sendable, Hashable {
    let bits: UInt64

    /// Whether the field is unset.
    var isZero: Bool { bits == 0 }

    /// Nanoseconds since 1970, rounded down.
    var nanoseconds: Int64 {
        let seconds = Int64(bits >> 32) + (bits >> 63 == 1 ? 0 : 1 << 32) - 2_208_988_800
        return seconds * 1_000_000_000 + Int64(((bits & 0xffff_ffff) * 1_000_000_000) >> 32)
    }
}

/// The reason for a failed NTP query.
package enum NTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server's name did not resolve.
    case dns
    /// The server is unreachable, or its port is closed.
    case network
    /// No response to this request arrived in time.
    case timeout
    /// The task was cancelled.
    case cancelled
    /// The response is not one of an NTP server, or its times are inconsistent.
    case malformed
    /// The server reports that its clock is not synchronised, or not precisely enough.
    case unsynchronised
    /// The server requests fewer queries (a kiss-o'-death packet, `RATE`).
    case rateLimited
    /// The server denies access (a kiss-o'-death packet, `DENY` or `RSTR`).
    case refused

    /// The value of the metrics' `result` label.
    package var sampleResult: ClockSampleResult {
        switch self {
        case .dns, .network, .timeout, .cancelled: .failed
        case .malformed, .unsynchronised, .rateLimited, .refused: .unparsable
        }
    }

    /// One sentence with the problem and the fix.
    package var description: String {
        switch self {
        case .dns: "The time server's name does not resolve; check clock.ntp_servers."
        case .network: "The time server is unreachable; check clock.ntp_servers and the firewall."
        case .timeout: "The time server did not respond in time; check clock.ntp_servers and the firewall."
        case .cancelled: "The time query was cancelled."
        case .malformed: "The time server's response is invalid; check clock.ntp_servers."
        case .unsynchronised: "The time server's own clock is not synchronised; set another clock.ntp_servers."
        case .rateLimited: "The time server asked for fewer queries; the agent now queries it less often."
        case .refused: "The time server denied access and is not queried again; set another clock.ntp_servers."
        }
    }
}
