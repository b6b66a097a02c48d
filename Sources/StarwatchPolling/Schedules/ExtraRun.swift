/// How soon a run that failed is made once more outside its schedule.
package enum ExtraRun {
    /// Recovery must take less than 30 s after the network returns (R-RTY-15).
    package static let afterNetworkFailure = Duration.seconds(15)
    /// After a run for which another one stood, or a change of identity: with the 15 s of that one, less than 30 s too.
    package static let afterAnothers = Duration.seconds(5)
    package static let afterServerFailure = Duration.seconds(60)
    /// A store that failed is tried every 2 s, and has recovered by then if its cause is gone.
    package static let afterStoreFailure = Duration.seconds(10)
    /// The wait after `count` store failures in a row, at least 1. It grows because each run costs the server a request
    /// where only some writes fail.
    package static func afterStoreFailures(_ count: Int) -> Duration { afterStoreFailure * (1 << min(count - 1, 6)) }
    /// Changes that wait at the server are fetched when there is room, not at the next scheduled time.
    package static let whileOutOfRoom = Duration.seconds(60)
}
