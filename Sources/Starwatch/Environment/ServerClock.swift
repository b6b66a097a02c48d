package import StarwatchCore
import StarwatchTelemetry
import Synchronization

/// The local clock, corrected by the known offset of the server's clock.
///
/// Stored times use ``now``, and tokens ``tokenTime``, so that a wrong local clock does little harm. It differs from the local clock by
/// at most ``ClockOffset/longest``, so that a server with a wrong clock does little harm either. Ages of polls are
/// measured by the local clock alone. Differences within the uncertainty, or below one second, are not corrected,
/// because corrections would make the time jitter. Between readings, the monotonic clock reveals steps of the local
/// clock, and the estimate is corrected by them.
package final class ServerClock: ServerTime {
    /// Minimum size of a step. Smaller differences are the time between reading the two clocks.
    private static let leastStep = Duration.seconds(1)
    /// Uncertainty of a measured step.
    private static let stepUncertainty = Duration.milliseconds(20)

    private let time: any TimeSource
    private let metrics: ClockMetrics
    private let maxSkew: Duration
    private let source: ClockOptions.Source
    private let state = Mutex(State())

    private struct State {
        var estimator = ClockEstimator()
        var correction: Duration = .zero
        var lastSync: Timestamp?
        /// The offset from the local clock by which tokens are minted; `nil`: that of ``now``.
        var tokenOffset: Duration?
        /// Counts the choices of another clock, which take turns.
        var turn = 0
        /// The last update of the estimator's readings; `nil` before the first reading.
        var anchor: Moment?
    }

    /// - Parameter previous: The clock of the agent that a reload ended. Its readings stay valid if the source is the
    ///   same.
    package init(
        time: any TimeSource,
        metrics: ClockMetrics,
        maxSkew: Duration,
        source: ClockOptions.Source,
        after previous: ServerClock? = nil
    ) {
        (self.time, self.metrics, self.maxSkew, self.source) = (time, metrics, maxSkew, source)
        guard let previous, previous.source == source else { return }
        let known = previous.state.withLock { $0 }
        state.withLock { $0 = known }
        metrics.lastSync.set(known.lastSync?.seconds ?? 0)
        recordStep()
    }

    /// The best estimate of the server's time, within ``ClockOffset/longest`` of the local clock.
    package var now: Timestamp {
        guard source != .system else { return time.now }
        return state.withLock { state in
            let (moment, step) = look(since: state.anchor)
            return moment.wall + ClockOffset.bounded(state.correction - step)
        }
    }

    // MARK: - Tokens

    /// The time by which tokens are minted: ``now``, unless a server refused tokens by it and took one by another clock.
    package var tokenTime: Timestamp {
        let kept = state.withLock(\.tokenOffset)
        return kept.map { time.now + $0 } ?? now
    }

    /// The offset of another known clock from the local one, for one more try after a token was refused; `nil` if all say the same.
    ///
    /// - Parameters:
    ///   - used: The offset by which it was minted. The refusal itself can have moved the estimate since.
    ///   - said: The server's time in the refusal.
    package func otherTokenOffset(than used: Duration, said: Timestamp?) -> Duration? {
        let local = time.now
        if let said {
            let offset = ClockOffset.bounded(said - local)
            return (offset - used).magnitude > Self.tokenTolerance ? offset : nil
        }
        let others = [now - local, .zero].filter { ($0 - used).magnitude > Self.tokenTolerance }
        guard !others.isEmpty else { return nil }
        let turn = state.withLock { state in
            defer { state.turn += 1 }
            return state.turn % (others.count + 1)
        }
        // The time need not be the cause, so the same clock has its turn too.
        return turn < others.count ? others[turn] : nil
    }

    /// Notes the result of a try by ``otherTokenOffset(than:said:)``.
    ///
    /// - Returns: Whether tokens are minted by another clock from now on.
    package func noteToken(by offset: Duration, isTaken: Bool) -> Bool {
        guard isTaken else { return false }
        state.withLock { $0.tokenOffset = offset }
        return true
    }

    /// The difference of clocks that servers tolerate in tokens.
    private static let tokenTolerance = Duration.seconds(2)

    /// Converts a time of ``now`` to the local clock.
    package func local(_ corrected: Timestamp) -> Timestamp {
        guard source != .system else { return corrected }
        return state.withLock { corrected - ClockOffset.bounded($0.correction - look(since: $0.anchor).step) }
    }

    /// The current estimate; `nil` before the first reading.
    package var estimate: ClockEstimator.Estimate? {
        state.withLock { state in
            absorbStep(&state)
            return state.estimator.estimate(at: time.now)
        }
    }

    /// Time of the last reading of the server's clock, by the local clock.
    package var lastSync: Timestamp? { state.withLock(\.lastSync) }

    /// `true` if ``now`` is reliable: another clock was read since the start, or the local clock is configured.
    package var isConfirmed: Bool { source == .system || lastSync != nil }

    /// `true` if the skew exceeds the limit beyond the uncertainty.
    package var isSkewed: Bool {
        guard let estimate else { return false }
        return estimate.offset.magnitude - estimate.uncertainty > maxSkew
    }

    /// Reads the server's time from the headers of a response, unless NTP is the configured source.
    ///
    /// - Parameter roundTrip: Time from the request to the response, by the monotonic clock.
    package func observe(serverTime: String?, date: String?, age: String?, sentAt: Timestamp, roundTrip: Duration) {
        guard source != .ntp else { return }
        observe(
            ServerClockReading.read(
                serverTime: source == .dateHeader ? nil : serverTime,
                date: date,
                age: age,
                sentAt: sentAt,
                roundTrip: roundTrip
            )
        )
    }

    /// Updates the estimate with a reading.
    package func observe(_ reading: ServerClockReading) {
        let (result, estimate) = state.withLock { state -> (ClockSampleResult, ClockEstimator.Estimate?) in
            let read = absorbStep(&state)
            let result = state.estimator.add(reading)
            guard result == .used else { return (result, nil) }
            (state.anchor, state.lastSync) = (read, read.wall)
            metrics.lastSync.set(read.wall.seconds)
            return (result, correct(&state, at: read.wall))
        }
        metrics.samples[reading.source, result].increment()
        if let estimate { publish(estimate) }
    }

    /// Counts a failed request for the time.
    package func sampleFailed(_ source: ClockSource, _ result: ClockSampleResult = .failed) {
        metrics.samples[source, result].increment()
    }

    /// Publishes the new skew after the local clock was set; ``now`` continues unchanged.
    package func recordStep() {
        guard let estimate else { return }
        publish(estimate)
    }

    private func publish(_ estimate: ClockEstimator.Estimate) {
        metrics.skew.set(estimate.offset.inSeconds)
        metrics.uncertainty.set(estimate.uncertainty.inSeconds)
    }

    /// Both clocks at one moment.
    private typealias Moment = (wall: Timestamp, boottime: Duration)

    /// The present moment, by readings that are close together. A thread can be delayed between two, but hardly ten times.
    private var measured: Moment {
        var moment = (wall: time.now, boottime: time.boottime)
        for _ in 1...10 {
            let (before, wall, after) = (moment.boottime, time.now, time.boottime)
            if after - before <= Self.stepUncertainty { return (wall, before) }
            moment = (wall, after)
        }
        return moment
    }

    /// Returns the present moment, and the size of the step by which the local clock was set since the anchor.
    private func look(since anchor: Moment?) -> (moment: Moment, step: Duration) {
        guard let anchor else { return (measured, .zero) }
        func step(at moment: Moment) -> Duration { (moment.wall - anchor.wall) - (moment.boottime - anchor.boottime) }
        let boottime = time.boottime
        var moment: Moment = (wall: time.now, boottime: boottime)
        // A delay between these two readings looks like a step ahead, and as an anchor like a later step back.
        if step(at: moment) > Self.leastStep { moment = measured }
        let size = step(at: moment)
        return (moment, size.magnitude > Self.leastStep ? size : .zero)
    }

    /// - Returns: The present moment.
    @discardableResult
    private func absorbStep(_ state: inout State) -> Moment {
        let (moment, step) = look(since: state.anchor)
        guard step != .zero else { return moment }
        state.estimator.localClockWasSet(by: step, uncertainty: Self.stepUncertainty)
        state.lastSync = state.lastSync.map { $0 + step }
        state.tokenOffset = nil
        state.anchor = moment
        correct(&state, at: moment.wall)
        return moment
    }

    /// - Returns: The estimate that ``now`` is corrected by.
    @discardableResult
    private func correct(_ state: inout State, at now: Timestamp) -> ClockEstimator.Estimate? {
        guard let estimate = state.estimator.estimate(at: now) else { return nil }
        if source != .system {
            let isSkewed = estimate.offset.magnitude > max(estimate.uncertainty, .seconds(1))
            state.correction = isSkewed ? estimate.offset : .zero
        }
        return estimate
    }
}

extension Duration {
    /// The duration without its sign.
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
