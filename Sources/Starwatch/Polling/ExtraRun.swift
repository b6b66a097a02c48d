/// When a run that failed is made once more outside its schedule.
enum ExtraRun {
    /// Recovery must take less than 30 s after the network returns (R-RTY-15).
    static let afterNetworkFailure = Duration.seconds(15)
    /// Another tries the server, or the identity has just changed. With the 15 s until that one, less than 30 s too.
    static let afterAnothers = Duration.seconds(5)
    static let afterServerFailure = Duration.seconds(60)
    /// A store that failed is tried every 2 s, and so is well again by then if its cause is gone.
    static let afterStoreFailure = Duration.seconds(10)
    /// After so many in a row, at least 1: where only some writes fail, the server is asked each time.
    static func afterStoreFailures(_ count: Int) -> Duration { afterStoreFailure * (1 << min(count - 1, 6)) }
    /// What waits at the server comes when there is room, and not at the next scheduled time.
    static let whileOutOfRoom = Duration.seconds(60)
}
