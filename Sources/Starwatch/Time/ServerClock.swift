package import StarwatchCore
import StarwatchTelemetry
import Synchronization

/// The local clock, corrected by what is known of the server's.
///
/// Tokens, stored times and freshness use ``now``, so that a clock that is wrong does little harm. Differences within
/// the uncertainty, or below a second, are not corrected: time would jitter for nothing.
package final class ServerClock: Sendable {
    private let time: any TimeSource
    private let metrics: ClockMetrics
    private let maxSkew: Duration
    private let isCorrecting: Bool
    private let state = Mutex(State())

    private struct State {
        var estimator = ClockEstimator()
        var correction: Duration = .zero
        var lastSync: Timestamp?
    }

    /// - Parameter isCorrecting: `false` when the configuration says to believe the local clock.
    package init(time: any TimeSource, metrics: ClockMetrics, maxSkew: Duration, isCorrecting: Bool) {
        self.time = time
        self.metrics = metrics
        self.maxSkew = maxSkew
        self.isCorrecting = isCorrecting
    }

    /// The server's time, as well as it is known.
    package var now: Timestamp { time.now + state.withLock(\.correction) }

    /// A time of ``now``'s, by the local clock.
    package func local(_ corrected: Timestamp) -> Timestamp { corrected - state.withLock(\.correction) }

    /// The estimate as of now; `nil` before the first reading.
    package var estimate: ClockEstimator.Estimate? {
        let now = time.now
        return state.withLock { $0.estimator.estimate(at: now) }
    }

    /// When the server's clock was last read.
    package var lastSync: Timestamp? { state.withLock(\.lastSync) }

    /// Whether the skew is certainly over the limit.
    package var isSkewed: Bool {
        guard let estimate else { return false }
        let size = estimate.offset < .zero ? .zero - estimate.offset : estimate.offset
        return size - estimate.uncertainty > maxSkew
    }

    /// Learns from the headers of an answer.
    ///
    /// - Parameter roundTrip: From the request to the answer, by the monotonic clock.
    package func observe(serverTime: String?, date: String?, age: String?, sentAt: Timestamp, roundTrip: Duration) {
        let reading = ServerClockReading.read(
            serverTime: serverTime,
            date: date,
            age: age,
            sentAt: sentAt,
            roundTrip: roundTrip
        )
        let now = time.now
        let (source, result, estimate) = state.withLock { state in
            let result = state.estimator.add(reading)
            let estimate = state.estimator.estimate(at: now)
            if result == .used { state.lastSync = now }
            if isCorrecting, let estimate {
                let size = estimate.offset < .zero ? .zero - estimate.offset : estimate.offset
                state.correction = size > max(estimate.uncertainty, .seconds(1)) ? estimate.offset : .zero
            }
            return (reading.source, result, estimate)
        }
        metrics.samples[source, result].increment()
        guard result == .used, let estimate else { return }
        metrics.skew.set(estimate.offset.inSeconds)
        metrics.uncertainty.set(estimate.uncertainty.inSeconds)
        metrics.lastSync.set(now.seconds)
    }

    /// Counts a request for the time that brought no answer.
    package func sampleFailed(_ source: ClockSource) {
        metrics.samples[source, .failed].increment()
    }

    /// Forgets what was measured: the local clock was set.
    package func reset() {
        state.withLock { state in
            state.estimator.reset()
            state.correction = .zero
        }
    }
}
