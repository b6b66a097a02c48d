import Foundation
import StarwatchCore
import StarwatchTransport
import Testing

@testable import StarwatchSimulation

/// Checks report every violation, and no allowed case close to one.
@Suite struct CheckTests {
    /// Simulation without an agent and without faults.
    private struct Parts: Sendable {
        let clock = SimulatedClock()
        let violations: Violations
        let server: SimulatedServer
        let receiver: Receiver
        let meter: RequestMeter
        let network: SimulatedNetwork
        let disk: SimulatedDisk
        let process: SimulatedProcess

        init(_ settings: Settings) throws {
            let trace = Trace(clock: clock, kept: 0)
            let faults = FaultInjector(seed: 0, kinds: [], limit: 0, intensity: 0)
            violations = Violations(trace: trace)
            server = SimulatedServer(
                seed: 0,
                settings: settings,
                clock: clock,
                faults: faults,
                violations: violations,
                defect: .none
            )
            receiver = Receiver(index: 0, isRequired: true, faults: faults, violations: violations)
            meter = RequestMeter(settings: settings, clock: clock, violations: violations)
            network = SimulatedNetwork(
                seed: 0,
                clock: clock,
                server: server,
                receivers: [receiver],
                meter: meter,
                trace: trace
            )
            disk = try SimulatedDisk(isEmpty: true)
            process = SimulatedProcess(
                0,
                disk: disk,
                faults: faults,
                trace: trace,
                network: network,
                clock: ProcessClock(clock),
                onDeath: { _ in false }
            )
        }
    }

    /// Returns the guarantees that `history` breaks.
    private func broken(
        in settings: Settings,
        _ history: @escaping @Sendable (Parts) async -> Void
    ) async throws -> [Guarantee] {
        // A separate thread, because a loop owns the thread it runs on.
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(with: Result { try Self.play(history, in: settings) })
            }
            thread.start()
        }
    }

    private static func play(
        _ history: @escaping @Sendable (Parts) async -> Void,
        in settings: Settings
    ) throws -> [Guarantee] {
        let loop = SimulationLoop(chance: Chance(seed: 0, "checks"))
        return try loop.own {
            let parts = try Parts(settings)
            defer { parts.disk.remove() }
            let isDone = Confined(false)
            // Unstructured: this function is synchronous and runs the task's jobs itself, below.
            Task {
                await history(parts)
                isDone.value = true
            }
            while !isDone.value {
                guard loop.step() || parts.clock.advance() else { throw CancellationError() }
            }
            return parts.violations.all.map(\.guarantee)
        }
    }

    /// Returns the settings of the first seed that meets a condition.
    private func firstSettings(where isWanted: (Settings) -> Bool) throws -> Settings {
        let found = (0..<1000 as Range<UInt64>).lazy.map { Settings(seed: $0) }.first(where: isWanted)
        return try #require(found)
    }

    private static func notification(_ id: String, _ content: String) -> HTTPRequest {
        HTTPRequest(
            method: .post,
            url: Receiver.url(0),
            headers: [(name: "webhook-id", value: id)],
            body: Array(content.utf8)
        )
    }

    private static func acknowledgement(of id: String, key: String) -> HTTPRequest {
        HTTPRequest(
            method: .post,
            url: Settings.server + "/api/v2/plans/acknowledge",
            headers: [(name: "X-Idempotency-Key", value: key)],
            body: Array(#"{"acknowledgedJwtIds":["\#(id)"]}"#.utf8)
        )
    }

    @Test func oneNotificationHasOneContent() async throws {
        let settings = Settings(seed: 0)
        let allowed = try await broken(in: settings) { parts in
            for (id, content) in [("a", "1"), ("a", "1"), ("b", "2")] {
                _ = parts.receiver.receive(Self.notification(id, content))
            }
        }
        #expect(allowed == [])
        let forbidden = try await broken(in: settings) { parts in
            for content in ["1", "2"] { _ = parts.receiver.receive(Self.notification("a", content)) }
        }
        #expect(forbidden == [.sameContent])
    }

    @Test func oneMinuteHasNoMoreAcknowledgementsThanAreAllowed() async throws {
        let settings = try firstSettings { $0.acknowledgementsPerMinute == 1000 }
        let allowed = try await broken(in: settings) { parts in
            parts.meter.sent(by: "a", acknowledging: 600)
            parts.meter.sent(by: "a", acknowledging: 400)
            parts.meter.sent(by: "b", acknowledging: 1000)
            parts.clock.suspend(for: .seconds(60))
            parts.meter.sent(by: "a", acknowledging: 1000)
        }
        #expect(allowed == [])
        let forbidden = try await broken(in: settings) { parts in
            parts.meter.sent(by: "a", acknowledging: 1000)
            parts.clock.suspend(for: .milliseconds(59_999))
            parts.meter.sent(by: "a", acknowledging: 1)
        }
        #expect(forbidden == [.acknowledgementLimit])
    }

    @Test func oneKeyHasOneBody() async throws {
        let settings = try firstSettings { $0.dialect == .canonical && !$0.usesTokens }
        let allowed = try await broken(in: settings) { parts in
            for (id, key) in [("1", "a"), ("1", "a"), ("2", "b")] {
                _ = parts.server.answer(Self.acknowledgement(of: id, key: key), acknowledging: [id])
            }
        }
        #expect(allowed == [])
        let forbidden = try await broken(in: settings) { parts in
            for id in ["1", "2"] {
                _ = parts.server.answer(Self.acknowledgement(of: id, key: "a"), acknowledging: [id])
            }
        }
        #expect(forbidden == [.idempotency])
    }

    @Test(arguments: [(true, false), (false, true), (false, false)])
    func onlyWhatWasDeliveredOrUnstarredIsAcknowledged(isDelivered: Bool, isUnstarred: Bool) async throws {
        let settings = try firstSettings { $0.dialect == .canonical && !$0.usesTokens }
        let found = try await broken(in: settings) { parts in
            parts.server.publish(1, of: ["plan"])
            let id = parts.server.state.value.feed.rows[0].id
            if isUnstarred { parts.server.state.value.unstarred.insert("plan") }
            let notification = Self.notification("a", #"{"jwt_id":"\#(id)"}"#)
            if isDelivered { _ = await parts.network.exchange(notification, of: parts.process) }
            _ = await parts.network.exchange(Self.acknowledgement(of: id, key: "a"), of: parts.process)
        }
        let expected: [Guarantee] =
            isDelivered || isUnstarred ? [] : [.acknowledgedAfterDelivery]
        #expect(found == expected)
    }
}
