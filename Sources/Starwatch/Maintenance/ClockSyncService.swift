import Logging
import ServiceLifecycle
package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
package import StarwatchTransport
import Synchronization

/// Reads the time from the server's endpoint or from NTP servers, if available, and watches the local clock for jumps.
///
/// Every other response also provides a reading of the server's clock. The code that sends the requests takes those.
package final class ClockSyncService: Service {
    private let account: Account
    private let environment: Environment
    private let timeServers: [NTPClient]
    private let rotation: Mutex<NTPRotation>
    private let options: ClockOptions

    /// - Parameter timeServers: Clients of the servers for `clock.source: ntp`; empty with any other source.
    package init(account: Account, environment: Environment, timeServers: [NTPClient], options: ClockOptions) {
        (self.account, self.environment, self.timeServers) = (account, environment, timeServers)
        rotation = Mutex(NTPRotation(count: timeServers.count))
        self.options = options
    }

    private var time: any TimeSource { environment.time }
    private var clock: ServerClock { environment.clock }
    private var logger: Logger { environment.logger }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var jumps = self.account.api.requester.gates.jumps
            var pace = NTPPace(interval: self.options.checkInterval)
            // `nil` means that no further sync follows.
            var nextSync: Duration? = self.time.monotonic
            while !Task.isCancelled {
                // After a jump the clocks are compared immediately.
                await self.account.api.followClock()
                await self.account.gate.saveUnstored()
                let known = self.account.api.requester.gates.jumps
                if known != jumps, nextSync != nil { nextSync = self.time.monotonic }
                jumps = known
                if let due = nextSync, self.time.monotonic >= due {
                    let wait = await self.sync(&pace)
                    nextSync = wait.map { self.time.monotonic + $0 }
                }
                let wait = nextSync.map { max($0 - self.time.monotonic, .seconds(1)) } ?? ClockLook.interval
                try await self.time.sleep(for: min(wait, ClockLook.wait(from: self.time.now)))
            }
        }
    }

    /// Runs one pass. Returns the time until the next; `nil` means that no pass follows.
    private func sync(_ pace: inout NTPPace) async -> Duration? {
        let outcome = await pass()
        return timeServers.isEmpty ? options.checkInterval : pace.wait(after: outcome)
    }

    /// Reads the time once, if the configuration enables it and a source is available.
    @discardableResult
    package func pass() async -> NTPPace.Outcome {
        let outcome: NTPPace.Outcome
        if timeServers.isEmpty {
            outcome = .answered
            await askServer()
        } else {
            outcome = await askTimeServers()
        }
        if clock.isSkewed {
            logger.log(
                .clockSkewed,
                [
                    .skewMilliseconds: .number(clock.estimate?.offset.wholeMilliseconds ?? 0),
                    .error: "The local clock and the server's differ by more than clock.max_skew.",
                ]
            )
        }
        return outcome
    }

    /// Asks the time servers in turn, until one answers.
    private func askTimeServers() async -> NTPPace.Outcome {
        var results: [NTPPace.Outcome] = []
        for server in rotation.withLock(\.order) where !Task.isCancelled {
            let result = await ask(timeServers[server])
            results.append(result)
            rotation.withLock { $0.note(result, of: server) }
            if result == .answered { break }
        }
        return rotation.withLock { [results] in $0.outcome(of: results) }
    }

    private func ask(_ ntp: NTPClient) async -> NTPPace.Outcome {
        do {
            clock.observe(.sample(try await ntp.sample()))
            return .answered
        } catch {
            guard error != .cancelled else { return .failed }
            clock.sampleFailed(.ntp, error.sampleResult)
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
        let dialect = account.gate.known.dialect
        guard dialect?.hasTimeEndpoint ?? (options.source == .timeEndpoint) else { return }
        let now = time.now
        guard let did = (try? await account.identity.current())?.identity.did,
            await account.gate.isReady(now: now)
        else {
            return
        }
        var request = EndorserRequest(.time, of: did, runID: RandomID.runID())
        request.retries = .tokenOnly
        // Only the headers are read.
        let reply = await account.api.answer(to: request, dialect: dialect ?? .canonical) { _, _ in .success(()) }
        if case .failed(let failure)? = reply.end.failure,
            failure.status == nil, failure.failureClass != .cancelled
        {
            clock.sampleFailed(.timeEndpoint)
        }
    }
}

extension ListenAddress {
    /// The address of a time server: `host`, `host:port` or `[v6]:port`; `nil` for anything else. The default port is 123.
    package init?(timeServer text: String) {
        let hasPort = text.last != "]" && text.contains(":")
        guard let address = ListenAddress(parsing: hasPort ? text : text + ":123"), address.port > 0,
            !text.hasPrefix(":"), !text.isEmpty,
            address.host.utf8.allSatisfy({ $0.isAlphanumeric || ".-_:%".utf8.contains($0) })
        else { return nil }
        self = address
    }
}

extension ClockOptions {
    /// The maximum number of time servers.
    package static let maximumServers = 8

    /// The clients of the configured time servers; empty if the clock is measured otherwise.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    func timeServers(time: any TimeSource) throws(AgentError) -> [NTPClient] {
        guard source == .ntp else { return [] }
        let addresses = (ntpServer.map { [$0] } ?? ntpServers).map(ListenAddress.init(timeServer:))
        guard (1...Self.maximumServers).contains(addresses.count), !addresses.contains(nil) else {
            throw AgentError(
                .configuration,
                "clock.source ntp needs 1 to \(Self.maximumServers) clock.ntp_servers, each HOST or HOST:PORT."
            )
        }
        return addresses.compactMap { $0 }.map { address in
            NTPClient(
                host: address.host,
                port: address.port,
                clock: { StarwatchTransport.ClockReading(wall: time.now, monotonic: time.monotonic) }
            )
        }
    }
}
