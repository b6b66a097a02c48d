/// When a run that failed is made once more outside its schedule.
enum ExtraRun {
    /// Recovery must take less than 30 s after the network returns (R-RTY-15).
    static let afterNetworkFailure = Duration.seconds(15)
    static let afterServerFailure = Duration.seconds(60)
}
