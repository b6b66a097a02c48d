import StarwatchCore
import Synchronization

@testable import Starwatch

/// A sink that answers as it is told and remembers what it was given.
final class ScriptedSink: NotificationSink {
    private struct State {
        var results: [SinkResult] = []
        var otherwise = SinkResult.ok
        var seen: [OutgoingNotification] = []
        var dueSince: [Timestamp?] = []
        var takesBack = false
        var before: (@Sendable (OutgoingNotification) async -> Void)?
    }

    let name: String
    private let state = Mutex(State())

    init(_ name: String) {
        self.name = name
    }

    /// Everything it was given, every try.
    var seen: [OutgoingNotification] { state.withLock(\.seen) }

    /// The time since which it was due, for each try.
    var dueSince: [Timestamp?] { state.withLock(\.dueSince) }

    /// The ids of the changes in everything it was given.
    var named: [String] {
        seen.flatMap { NotificationMessage(json: $0.payload)?.changes.map(\.jwtID) ?? [] }
    }

    /// Forgets what it was given.
    func forget() {
        state.withLock { ($0.seen, $0.dueSince) = ([], []) }
    }

    var takesBack: Bool { state.withLock(\.takesBack) }

    /// From now on it can make disappear what is taken back.
    func canTakeBack() { state.withLock { $0.takesBack = true } }

    /// The answers to the next tries, one each.
    func script(_ results: SinkResult...) {
        state.withLock { $0.results += results }
    }

    /// The answer to tries for which none is scripted.
    func answer(_ result: SinkResult) {
        state.withLock { $0.otherwise = result }
    }

    /// Action before each response, from the next attempt on.
    func before(_ action: (@Sendable (OutgoingNotification) async -> Void)?) {
        state.withLock { $0.before = action }
    }

    func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let action = state.withLock { state in
            state.dueSince.append(notification.dueSince)
            var seen = notification
            seen.dueSince = nil
            state.seen.append(seen)
            return state.before
        }
        await action?(notification)
        return state.withLock { state in state.results.isEmpty ? state.otherwise : state.results.removeFirst() }
    }
}

extension SinkResult {
    /// Down, without a word on when it will be back.
    static let down = SinkResult.unavailable(SinkFailure("The sink is down.", .program), retryAfter: nil)
    static let refused = SinkResult.rejected(SinkFailure("The sink refused the notification.", .program))
}
