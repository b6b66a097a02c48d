import StarwatchCore

/// An NTP message, as far as a client needs it: 48 bytes, and whatever extensions follow (RFC 5905, 7.3).
struct NTPPacket: Sendable, Hashable {
    static let length = 48
    /// A clock that may be further off is of no use (RFC 5905's MAXDIST).
    static let largestDistanceNanoseconds: Int64 = 1_500_000_000

    let leap: UInt8
    let version: UInt8
    let mode: UInt8
    let stratum: UInt8
    /// To the reference clock and back, and how far that may be off; 16 bits of seconds and 16 of a fraction each.
    let rootDelay: UInt32
    let rootDispersion: UInt32
    /// In a kiss-o'-death packet, four letters.
    let reference: UInt32
    let originate: NTPTimestamp
    let receive: NTPTimestamp
    let transmit: NTPTimestamp

    /// A client's question.
    ///
    /// - Parameter nonce: Stands in the place of our time, which is nobody's business; the answer must repeat it.
    static func request(nonce: UInt64) -> [UInt8] {
        // No leap second to warn of, version 4, mode 3: client.
        [0b00_100_011] + Array(repeating: 0, count: 39) + withUnsafeBytes(of: nonce.bigEndian, Array.init)
    }

    /// - Returns: `nil` for what is shorter than a message.
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

    /// What the answer says about the server's clock.
    ///
    /// The server's clock is read twice, so what it took to answer does not widen the bounds; what the server knows of
    /// its own error does.
    func sample(sent: ClockReading, received: ClockReading) throws(NTPError) -> ClockSample {
        guard mode == 4, (1...4).contains(version) else { throw .malformed }
        // Kiss-o'-death; other letters than these say that the server is not ready.
        if stratum == 0, reference == Self.rate { throw .rateLimited }
        if stratum == 0, Self.refusals.contains(reference) { throw .refused }
        guard stratum > 0 else { throw .unsynchronised }
        guard leap != 3, stratum < 16 else { throw .unsynchronised }
        guard !receive.isZero, !transmit.isZero else { throw .malformed }
        let distance = ((Int64(rootDelay) / 2 + Int64(rootDispersion)) * 1_000_000_000) >> 16
        guard distance <= Self.largestDistanceNanoseconds else { throw .unsynchronised }
        let elapsed = received.monotonic - sent.monotonic
        let answering = transmit.nanoseconds - receive.nanoseconds
        // The clocks are read to the millisecond, here and perhaps there.
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

    /// The letters "RATE".
    private static let rate: UInt32 = 0x5241_5445
    /// The letters "DENY" and "RSTR".
    private static let refusals: Set<UInt32> = [0x4445_4e59, 0x5253_5452]
}
