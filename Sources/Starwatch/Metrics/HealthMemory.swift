import StarwatchCore
import Synchronization

/// Observations of this process that decide about its health. They outlast a reload.
final class HealthMemory: Sendable {
    private struct Seen {
        var lastScrape: Timestamp?
        var rhythm = ScrapeRhythm()
        var answers = AnswerWindow(bounds: Buckets.latency)
        /// The last step of the local clock, and when it was noticed by the clock that nobody sets.
        var jump: (event: ClockJumpDetector.Event, at: Duration)?
        var refusedReload: RefusedReload?
        var settledBytes: Int?
        var keyCreated: Timestamp?
    }

    /// The time after the start at which caches are filled, so that later growth says something.
    static let settlesAfter = Duration.seconds(600)

    private let seen = Mutex(Seen())

    /// Time of the last request of a scraper; `nil` before the first.
    var lastScrape: Timestamp? { seen.withLock(\.lastScrape) }

    /// The refusal of the last reload; `nil` if it succeeded, or before the first one.
    var refusedReload: RefusedReload? {
        get { seen.withLock(\.refusedReload) }
        set { seen.withLock { $0.refusedReload = newValue } }
    }

    /// Creation of the key that signs tokens, or the last write to its file; `nil` without one.
    var keyCreated: Timestamp? {
        get { seen.withLock(\.keyCreated) }
        set { seen.withLock { $0.keyCreated = newValue } }
    }

    /// The first resident memory that a look has seen after ``settlesAfter``; `nil` before.
    var settledBytes: Int? { seen.withLock(\.settledBytes) }

    /// - Parameter monotonic: The time by the monotonic clock.
    func noteScrape(now: Timestamp, at monotonic: Duration) {
        seen.withLock { seen in
            seen.lastScrape = now
            seen.rhythm.scraped(at: monotonic)
        }
    }

    /// The time since the last scrape, if scrapes have ceased; `nil` if they go on, or never had a rhythm.
    func scrapeSilence(at monotonic: Duration) -> Duration? { seen.withLock { $0.rhythm.silence(at: monotonic) } }

    /// Takes the totals of the server's answers.
    func note(_ totals: AnswerWindow.Totals, at monotonic: Duration) {
        seen.withLock { $0.answers.observe(totals, at: monotonic) }
    }

    /// The server's answers of late, up to these totals.
    func answers(_ totals: AnswerWindow.Totals, at monotonic: Duration) -> AnswerWindow.Summary {
        var answers = seen.withLock(\.answers)
        answers.observe(totals, at: monotonic)
        return answers.summary
    }

    /// Takes the resident memory.
    ///
    /// - Parameter uptime: The time since the start of the agent.
    func note(residentBytes bytes: Int, uptime: Duration) {
        guard uptime >= Self.settlesAfter else { return }
        seen.withLock { $0.settledBytes = $0.settledBytes ?? bytes }
    }

    /// Remembers a step of the local clock. A suspended machine is none.
    func noteJump(_ event: ClockJumpDetector.Event, at boottime: Duration) {
        guard event.jump != .suspend else { return }
        seen.withLock { $0.jump = (event, boottime) }
    }

    /// The last step of the local clock; `nil` without one.
    func jump(at boottime: Duration) -> HealthFacts.Jump? {
        seen.withLock { seen in
            seen.jump.map { HealthFacts.Jump($0.event.jump, size: $0.event.size, age: boottime - $0.at) }
        }
    }
}
