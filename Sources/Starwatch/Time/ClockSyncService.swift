package import Logging
import ServiceLifecycle
package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
package import StarwatchTransport

/// Asks for the time where there is somebody to ask, the server's endpoint or an NTP server, and watches the local
/// clock for jumps.
///
/// Every other answer is a reading of the server's clock too; those are taken where requests are made.
package final class ClockSyncService: Service {
    private let caller: APICaller
    private let identity: IdentityContext
    private let ntp: NTPClient?
    private let options: ClockOptions
    private let logger: Logger

    /// - Parameter ntp: The server of `clock.source: ntp`; `nil` with any other source.
    package init(caller: APICaller, identity: IdentityContext, ntp: NTPClient?, options: ClockOptions, logger: Logger) {
        self.caller = caller
        self.identity = identity
        self.ntp = ntp
        self.options = options
        self.logger = logger
    }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var jumps = self.caller.watch.jumps
            var pace = NTPPace(interval: self.options.checkInterval)
            // `nil`: it is never asked again.
            var nextSync: Duration? = self.caller.time.monotonic
            while !Task.isCancelled {
                // After a jump the clocks are compared at once.
                await self.caller.lookAtClock()
                await self.caller.gate.keepUnstored()
                let known = self.caller.watch.jumps
                if known != jumps, nextSync != nil { nextSync = self.caller.time.monotonic }
                jumps = known
                if let due = nextSync, self.caller.time.monotonic >= due {
                    let wait = await self.sync(&pace)
                    nextSync = wait.map { self.caller.time.monotonic + $0 }
                }
                let wait = nextSync.map { $0 - self.caller.time.monotonic } ?? .seconds(30)
                try await self.caller.time.sleep(for: max(min(wait, .seconds(30)), .seconds(1)))
            }
        }
    }

    /// One pass, and how long until the next; `nil`: there must be none.
    private func sync(_ pace: inout NTPPace) async -> Duration? {
        let outcome = await pass()
        return ntp == nil ? options.checkInterval : pace.wait(after: outcome)
    }

    /// Asks for the time once, if the configuration wants it and there is somebody to ask.
    @discardableResult
    package func pass() async -> NTPPace.Outcome {
        let outcome: NTPPace.Outcome
        if let ntp {
            outcome = await ask(ntp)
        } else {
            outcome = .answered
            await askServer()
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
        return outcome
    }

    private func ask(_ ntp: NTPClient) async -> NTPPace.Outcome {
        do {
            caller.clock.observe(.sample(try await ntp.sample()))
            return .answered
        } catch {
            guard error != .cancelled else { return .failed }
            caller.clock.sampleFailed(.ntp, error.sampleResult)
            logger.log(.clockNoAnswer, [.error: "\(error.description)"])
            return switch error {
            case .rateLimited: .rateLimited
            case .refused: .refused
            default: .failed
            }
        }
    }

    private func askServer() async {
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
    }
}
