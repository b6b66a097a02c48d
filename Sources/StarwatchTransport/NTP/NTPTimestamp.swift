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
