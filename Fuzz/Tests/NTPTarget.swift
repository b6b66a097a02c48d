import StarwatchCore

@testable import StarwatchTransport

extension FuzzTarget {
    /// A time server's packet is a sample with bounds, or an error; never a time without a bound.
    static let ntp = FuzzTarget(
        name: "ntp",
        words: ["\u{24}\u{1}\u{0}\u{0}", "RATE", "DENY", "\u{0}\u{0}\u{0}\u{0}", "\u{7f}\u{7f}\u{7f}\u{7f}"],
        tries: 20_000
    ) { input in
        guard let packet = NTPPacket(input) else { return input.count < NTPPacket.length ? nil : "not read" }
        for elapsed in [0, 1, 250, 2000] as [Int64] {
            let sent = ClockReading(wall: Timestamp(milliseconds: 1_790_000_000_000), monotonic: .seconds(100))
            let received = ClockReading(
                wall: sent.wall + .milliseconds(elapsed),
                monotonic: sent.monotonic + .milliseconds(elapsed)
            )
            guard let sample = try? packet.sample(sent: sent, received: received) else { continue }
            if sample.roundTrip < .zero || sample.roundTrip > .milliseconds(elapsed) { return "a trip that cannot be" }
            if sample.resolution < .milliseconds(1) || sample.resolution > .milliseconds(3001) { return "no bound" }
            if !(1...15).contains(packet.stratum) || packet.leap == 3 { return "a clock that is not set" }
        }
        return nil
    }
}
