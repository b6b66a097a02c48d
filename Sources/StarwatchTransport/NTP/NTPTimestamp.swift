/// A moment as NTP writes it: seconds since 1900 and a fraction, 32 bits each (RFC 5905, 6).
///
/// The seconds start anew in February 2036. Their first bit tells the two eras apart: with it a time lies from 1968 to
/// 2036, without it from 2036 to 2104 (RFC 4330, 3). So the local clock has no say in it.
struct NTPTimestamp: Sendable, Hashable {
    let bits: UInt64

    /// Nothing was written.
    var isZero: Bool { bits == 0 }

    /// Nanoseconds since 1970, rounded down.
    var nanoseconds: Int64 {
        let seconds = Int64(bits >> 32) + (bits >> 63 == 1 ? 0 : 1 << 32) - 2_208_988_800
        return seconds * 1_000_000_000 + Int64(((bits & 0xffff_ffff) * 1_000_000_000) >> 32)
    }
}
