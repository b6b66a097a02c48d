/// The scrapes of an agent, as far as they tell whether they go on.
package struct ScrapeRhythm: Sendable {
    private var count = 0
    private var last = Duration.zero
    private var interval = Duration.zero

    /// The number of scrapes that make a rhythm: one by hand, or a first try, is none.
    private static let enough = 10
    /// The shortest silence that says something.
    private static let leastSilence = Duration.seconds(300)

    package init() {}

    /// Takes a scrape at a time of the monotonic clock.
    package mutating func scraped(at now: Duration) { (count, interval, last) = (count + 1, now - last, now) }

    /// The time since the last scrape, if scrapes have ceased; `nil` if they go on, or never had a rhythm.
    package func silence(at now: Duration) -> Duration? {
        let silence = now - last
        return count >= Self.enough && silence > max(Self.leastSilence, interval * 4) ? silence : nil
    }
}
