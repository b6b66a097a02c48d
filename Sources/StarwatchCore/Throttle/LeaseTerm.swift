/// The time for which an owner uses its lease of an account, by a clock that also runs while the machine sleeps.
package struct LeaseTerm: Sendable, Hashable {
    /// Duration of a lease in the database. After a crash, the accounts that were at work wait for this long.
    package static let length = Duration.seconds(30)
    /// The owner stops this long before another one can claim the account: what it has sent is still on its way, and the
    /// clocks of two machines differ.
    private static let margin = Duration.seconds(10)

    private let end: Duration

    /// - Parameter boottime: A time before the claim, or the renewal, was sent to the database.
    package init(from boottime: Duration) { end = boottime + Self.length - Self.margin }

    /// Whether this term counts from a later moment than another one.
    package func began(after other: LeaseTerm) -> Bool { end > other.end }

    /// Whether nothing may be sent for the account, unless the lease was renewed.
    package func isOver(at boottime: Duration) -> Bool { boottime >= end }
}
