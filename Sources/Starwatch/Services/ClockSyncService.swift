package import Logging
import ServiceLifecycle
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// Asks the server for its time where it has an endpoint for that, and watches the local clock for jumps.
///
/// Every other answer is a reading of the server's clock too; those are taken where requests are made.
package final class ClockSyncService: Service {
    private let caller: APICaller
    private let identity: IdentityContext
    private let options: ClockOptions
    private let logger: Logger

    package init(caller: APICaller, identity: IdentityContext, options: ClockOptions, logger: Logger) {
        self.caller = caller
        self.identity = identity
        self.options = options
        self.logger = logger
    }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var detector = ClockJumpDetector()
            var nextSync = self.caller.time.monotonic
            while !Task.isCancelled {
                await self.watch(&detector)
                if self.caller.time.monotonic >= nextSync {
                    await self.pass()
                    nextSync = self.caller.time.monotonic + self.options.checkInterval
                }
                let wait = min(nextSync - self.caller.time.monotonic, .seconds(30))
                try await self.caller.time.sleep(for: max(wait, .seconds(1)))
            }
        }
    }

    /// Asks for the time once, if the server has an endpoint for it and the configuration wants it.
    package func pass() async {
        guard options.source == .auto || options.source == .timeEndpoint else { return }
        let dialect = await caller.gate.dialect
        guard dialect?.hasTimeEndpoint ?? (options.source == .timeEndpoint) else { return }
        let now = caller.time.now
        guard let did = (try? await identity.current())?.identity.did, await caller.gate.isReady(now: now) else {
            return
        }
        let call = APICaller.Call(
            endpoint: .time,
            method: .get,
            account: did,
            purpose: .poll,
            runID: RandomID.runID(),
            isRetriedAtOnce: false
        )
        if case .failed(let failure) = await caller.send(call, dialect: dialect ?? .canonical),
            failure.status == nil, failure.failureClass != .cancelled
        {
            caller.clock.sampleFailed(.timeEndpoint)
        }
        if caller.clock.isSkewed {
            logger.log(
                .clockSkewed,
                [
                    .skewMilliseconds: .number(caller.clock.estimate?.offset.wholeMilliseconds ?? 0),
                    .error: "The local clock and the server's differ by more than clock.max_skew.",
                ]
            )
        }
    }

    private func watch(_ detector: inout ClockJumpDetector) async {
        let time = caller.time
        let reading = ClockJumpDetector.Reading(wall: time.now, monotonic: time.monotonic, boottime: time.boottime)
        for event in detector.observe(reading) {
            caller.metrics.clock.jumps[event.jump].increment()
            logger.log(
                .clockJump,
                [.kind: "\(event.jump.rawValue)", .sizeMilliseconds: .number(event.size.wholeMilliseconds)]
            )
            guard event.jump != .suspend else { continue }
            caller.clock.reset()
            await caller.gate.shift(by: event.jump == .forward ? event.size : .zero - event.size)
        }
    }
}
