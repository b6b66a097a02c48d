/// Delay of an extra run, outside the schedule, after a failed one.
package enum ExtraRun {
    /// Recovery must take less than 30 s after the network returns (R-RTY-15).
    package static let afterNetworkFailure = Duration.seconds(15)
    /// Delay after a run that another one replaced, or after a change of identity. With the 15 s of the other run, it
    /// stays below 30 s.
    package static let afterAnothers = Duration.seconds(5)
    package static let afterServerFailure = Duration.seconds(60)
    /// A failed store is probed every 2 s, so by then it has recovered if the cause is gone.
    package static let afterStoreFailure = Duration.seconds(10)
    /// The wait after `count` store failures in a row, at least 1. It grows because each run costs the server a request
    /// where only some writes fail.
    package static func afterStoreFailures(_ count: Int) -> Duration { afterStoreFailure * (1 << min(count - 1, 6)) }
    /// Changes that wait at the server are fetched when there is room, not at the next scheduled time.
    package static let whileOutOfRoom = Duration.seconds(60)
}
