import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct NTPPacketTests {
    private static let start: Int64 = 1_767_225_600_000_000_000

    private func packet(_ answer: NTPAnswer, to question: [UInt8] = NTPPacket.request(nonce: 7)) throws -> NTPPacket {
        try #require(NTPPacket(answer.bytes(to: question)))
    }

    private func reading(_ wall: Int64, _ monotonic: Int64 = 0) -> ClockReading {
        ClockReading(wall: Timestamp(milliseconds: wall / 1_000_000), monotonic: .nanoseconds(monotonic))
    }

    @Test func requestRevealsNoLocalTime() {
        let request = NTPPacket.request(nonce: 0x0102_0304_0506_0708)
        #expect(request.count == 48)
        #expect(request[0] == 0x23)
        #expect(request[1..<40].allSatisfy { $0 == 0 })
        #expect(Array(request[40...]) == [1, 2, 3, 4, 5, 6, 7, 8])
    }

    /// The true offset is within the bounds for any asymmetry of the network path and any processing time. The
    /// processing time does not widen the bounds.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func trueOffsetIsWithinTheBounds(seed: UInt64) throws {
        var state = seed
        func random(_ range: ClosedRange<Int64>) -> Int64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int64(state >> 33) % (range.upperBound - range.lowerBound + 1)
        }
        for _ in 0..<50 {
            let skew = random(-86_400_000...86_400_000) * 1_000_000 + random(0...999_999)
            let (out, thought, back) = (random(0...900_000_000), random(0...200_000_000), random(0...900_000_000))
            let error = random(0...50)
            let sent = Self.start + random(0...999_999_999)
            var answer = NTPAnswer(at: sent + out + skew)
            answer.transmit = NTPAnswer.bits(sent + out + skew + thought)
            answer.rootDelay = UInt32(error * 2)
            answer.rootDispersion = UInt32(error * 3)
            let sample = try packet(answer).sample(
                sent: reading(sent, 5_000_000),
                received: reading(sent, 5_000_000 + out + thought + back)
            )
            var estimator = ClockEstimator()
            #expect(estimator.add(sample) == .used)
            let estimate = try #require(estimator.estimate)
            let distance = (error * 4 * 1_000_000_000) >> 16
            let offset = estimate.offset.components
            let off = abs(offset.seconds * 1_000_000_000 + offset.attoseconds / 1_000_000_000 - skew)
            let doubt = estimate.uncertainty.wholeMilliseconds * 1_000_000
            #expect(off <= doubt + 1_000_000, "off by \(off) ns of \(doubt)")
            #expect(doubt <= (out + back) / 2 + distance + 4_000_000)
        }
    }

    @Test(
        arguments: [
            // The first and last second of each era.
            (0x8000_0000_0000_0000, "1968-01-20T03:14:08.000Z"), (0xffff_ffff_8000_0000, "2036-02-07T06:28:15.500Z"),
            (0x0000_0000_0000_0001, "2036-02-07T06:28:16.000Z"), (0x7fff_ffff_ffff_ffff, "2104-02-26T09:42:23.999Z"),
            (0x83aa_7e80_0000_0000, "1970-01-01T00:00:00.000Z"), (0xecfe_e600_4000_0000, "2025-12-31T00:00:00.250Z"),
        ] as [(UInt64, String)]
    )
    func timesOfBothErasAreRead(bits: UInt64, expected: String) {
        let nanoseconds = NTPTimestamp(bits: bits).nanoseconds
        let milliseconds = nanoseconds / 1_000_000 - (nanoseconds % 1_000_000 < 0 ? 1 : 0)
        #expect(Timestamp(milliseconds: milliseconds).iso8601 == expected)
    }

    @Test func sampleAcrossTheEraBoundaryIsCorrect() throws {
        // 2036-02-07T06:28:16Z.
        let turn: Int64 = 2_085_978_496_000_000_000
        var answer = NTPAnswer(at: turn - 10_000_000)
        answer.transmit = NTPAnswer.bits(turn + 10_000_000)
        #expect(answer.transmit < answer.receive)
        let sample = try packet(answer).sample(
            sent: reading(turn - 15_000_000),
            received: reading(turn - 15_000_000, 30_000_000)
        )
        var estimator = ClockEstimator()
        estimator.add(sample)
        let estimate = try #require(estimator.estimate)
        #expect(abs(estimate.offset.wholeMilliseconds) <= 1)
        #expect(estimate.uncertainty <= .milliseconds(8))
    }

    static let bad: [(String, NTPError, @Sendable (inout NTPAnswer) -> Void)] = [
        ("a question", .malformed, { $0.mode = 3 }), ("a broadcast", .malformed, { $0.mode = 5 }),
        ("a symmetric peer", .malformed, { $0.mode = 1 }), ("version 0", .malformed, { $0.version = 0 }),
        ("version 5", .malformed, { $0.version = 5 }), ("no receive time", .malformed, { $0.receive = 0 }),
        ("no transmit time", .malformed, { $0.transmit = 0 }),
        ("an answer before the question", .malformed, { $0.transmit -= 1 << 32 }),
        ("more thinking than there was time", .malformed, { $0.transmit += 1 << 30 }),
        ("the alarm", .unsynchronised, { $0.leap = 3 }), ("stratum 16", .unsynchronised, { $0.stratum = 16 }),
        ("stratum 255", .unsynchronised, { $0.stratum = 255 }),
        ("a clock that may be far off", .unsynchronised, { $0.rootDispersion = 2 << 16 }),
        ("a reference far away", .unsynchronised, { $0.rootDelay = 4 << 16 }),
        ("everything at its most", .unsynchronised, { ($0.rootDelay, $0.rootDispersion) = (.max, .max) }),
        ("RATE", .rateLimited, { ($0.stratum, $0.reference) = (0, Array("RATE".utf8)) }),
        ("DENY", .refused, { ($0.stratum, $0.reference, $0.leap) = (0, Array("DENY".utf8), 3) }),
        ("RSTR", .refused, { ($0.stratum, $0.reference) = (0, Array("RSTR".utf8)) }),
        ("INIT", .unsynchronised, { ($0.stratum, $0.reference) = (0, Array("INIT".utf8)) }),
        ("stratum 0 without a code", .unsynchronised, { ($0.stratum, $0.reference) = (0, [0, 0, 0, 0]) }),
    ]

    @Test(arguments: bad.indices)
    func invalidResponsesAreRejected(index: Int) throws {
        let (name, expected, change) = Self.bad[index]
        var answer = NTPAnswer(at: Self.start)
        let good = try packet(answer)
        _ = try good.sample(sent: reading(Self.start), received: reading(Self.start, 20_000_000))
        change(&answer)
        let packet = try packet(answer)
        let error = #expect(throws: NTPError.self, "\(name)") {
            try packet.sample(sent: reading(Self.start), received: reading(Self.start, 20_000_000))
        }
        #expect(error == expected, "\(name)")
    }

    @Test func leapSecondWarningIsAccepted() throws {
        for leap in [1, 2] as [UInt8] {
            var answer = NTPAnswer(at: Self.start)
            answer.leap = leap
            _ = try packet(answer).sample(sent: reading(Self.start), received: reading(Self.start, 1_000_000))
        }
    }

    @Test func messageNeeds48BytesAndAcceptsExtensions() {
        let bytes = NTPAnswer(at: Self.start).bytes(to: NTPPacket.request(nonce: 7))
        #expect(bytes.count == 48)
        for count in 0..<48 { #expect(NTPPacket(bytes.prefix(count)) == nil) }
        #expect(NTPPacket(bytes + [1, 2, 3, 4]) == NTPPacket(bytes))
    }

    /// Random datagrams never trap, and accepted samples have bounded values.
    @Test func randomBytesDoNotTrap() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = (0..<48).map { _ in UInt8.random(in: 0...255, using: &random) }
            if Bool.random(using: &random) { bytes[0] = 0x24 }
            if Bool.random(using: &random) { bytes.replaceSubrange(4..<12, with: [0, 0, 0, 0, 0, 0, 0, 0]) }
            if Bool.random(using: &random) { bytes.replaceSubrange(40..<48, with: bytes[32..<40]) }
            let packet = try #require(NTPPacket(bytes))
            guard let sample = try? packet.sample(sent: reading(Self.start), received: reading(Self.start, 1)) else {
                continue
            }
            #expect(sample.resolution <= .seconds(4))
            #expect(sample.serverTime.iso8601.hasPrefix("19") || sample.serverTime.iso8601.hasPrefix("2"))
        }
    }
}
