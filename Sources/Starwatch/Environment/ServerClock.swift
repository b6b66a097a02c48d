package import StarwatchCore
import StarwatchTelemetry
import Synchronization

/// The local clock, corrected by what is known of the server's.
///
/// Tokens, stored times and freshness use ``now``, so that a clock that is wrong does little harm. Differences within
/// the uncertainty, or below a second, are not corrected: time would jitter for nothing. Between readings the local
/// clock is held against one that nobody sets, so that setting it does no harm either.
package final class ServerClock: ServerTime {
    /// Smaller steps are the time between two looks at two clocks.
    private static let leastStep = Duration.seconds(1)
    /// How exactly a step is known.
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
        /// The clocks when the estimator's readings were last brought up to date; `nil` before the first one.
        var anchor: (wall: Timestamp, boottime: Duration)?
    }

    package init(time: any TimeSource, metrics: ClockMetrics, maxSkew: Duration, source: ClockOptions.Source) {
        self.time = time
        self.metrics = metrics
        self.maxSkew = maxSkew
        self.source = source
    }

    /// The server's time, as well as it is known.
    package var now: Timestamp {
        guard source != .system else { return time.now }
        return state.withLock { state in
            let (wall, step) = look(state)
            return wall - step + state.correction
        }
    }

    /// A time of ``now``'s, by the local clock.
    package func local(_ corrected: Timestamp) -> Timestamp {
        guard source != .system else { return corrected }
        return state.withLock { corrected - $0.correction + look($0).step }
    }

    /// The estimate as of now; `nil` before the first reading.
    package var estimate: ClockEstimator.Estimate? {
        state.withLock { state in
            absorbStep(&state)
            return state.estimator.estimate(at: time.now)
        }
    }

    /// When the server's clock was last read, by ``now``.
    package var lastSync: Timestamp? { state.withLock(\.lastSync) }

    /// Whether ``now`` is to be believed: some other clock was read since the start, or the local one is chosen.
    package var isConfirmed: Bool { source == .system || lastSync != nil }

    /// Whether the skew is certainly over the limit.
    package var isSkewed: Bool {
        guard let estimate else { return false }
        let size = estimate.offset < .zero ? .zero - estimate.offset : estimate.offset
        return size - estimate.uncertainty > maxSkew
    }

    /// Learns from the headers of an answer, unless another clock is to be believed.
    ///
    /// - Parameter roundTrip: From the request to the answer, by the monotonic clock.
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

    /// Learns from a reading.
    package func observe(_ reading: ServerClockReading) {
        let (result, estimate) = state.withLock { state in
            absorbStep(&state)
            let now = time.now
            let result = state.estimator.add(reading)
            if result == .used {
                state.anchor = (now, time.boottime)
                correct(&state, at: now)
                state.lastSync = now + state.correction
            }
            return (result, state.estimator.estimate(at: now))
        }
        metrics.samples[reading.source, result].increment()
        guard result == .used, let estimate else { return }
        publish(estimate)
        metrics.lastSync.set(time.now.seconds)
    }

    /// Counts a request for the time that brought none.
    package func sampleFailed(_ source: ClockSource, _ result: ClockSampleResult = .failed) {
        metrics.samples[source, result].increment()
    }

    /// Takes note of a local clock that was set: ``now`` goes on as before, and the skew is another.
    package func noteStep() {
        guard let estimate else { return }
        publish(estimate)
    }

    private func publish(_ estimate: ClockEstimator.Estimate) {
        metrics.skew.set(estimate.offset.inSeconds)
        metrics.uncertainty.set(estimate.uncertainty.inSeconds)
    }

    /// The local clock, and by how much it was set since the anchor.
    private func look(_ state: State) -> (wall: Timestamp, step: Duration) {
        guard let anchor = state.anchor else { return (time.now, .zero) }
        let before = time.boottime
        let wall = time.now
        let passed = wall - anchor.wall
        let most = passed - (before - anchor.boottime)
        if most < .zero - Self.leastStep { return (wall, most) }
        // A thread that was held up between two looks has seen no step.
        let least = passed - (time.boottime - anchor.boottime)
        return (wall, least > Self.leastStep ? least : .zero)
    }

    private func absorbStep(_ state: inout State) {
        let (wall, step) = look(state)
        guard step != .zero else { return }
        state.estimator.localClockWasSet(by: step, uncertainty: Self.stepUncertainty)
        state.anchor = (wall, time.boottime)
        correct(&state, at: wall)
    }

    private func correct(_ state: inout State, at now: Timestamp) {
        guard source != .system, let estimate = state.estimator.estimate(at: now) else { return }
        let size = estimate.offset < .zero ? .zero - estimate.offset : estimate.offset
        state.correction = size > max(estimate.uncertainty, .seconds(1)) ? estimate.offset : .zero
    }
}
