import Foundation
import ProgramTestKit
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite(.timeLimit(.minutes(5))) struct NTPClientTests {
    private static let wall = Timestamp(seconds: 1_767_225_600)

    /// A clock whose readings are `step` apart.
    private final class SteppingClock: Sendable {
        /// Guarded by `lock`.
        private nonisolated(unsafe) var now = Duration.zero
        private let lock = NSLock()
        private let step: Duration

        init(step: Duration) { self.step = step }

        func read() -> ClockReading {
            lock.withLock {
                defer { now += step }
                return ClockReading(wall: NTPClientTests.wall + now, monotonic: now)
            }
        }
    }

    private func client(
        _ port: Int,
        host: String = "127.0.0.1",
        step: Duration = .milliseconds(2),
        timeout: Duration = longestWait
    ) -> NTPClient {
        let clock = SteppingClock(step: step)
        var client = NTPClient(host: host, port: port, clock: { clock.read() })
        client.timeout = timeout
        return client
    }

    private static func answer(ahead: Duration = .zero) -> NTPAnswer {
        NTPAnswer(at: (wall + ahead).milliseconds * 1_000_000)
    }

    @Test(arguments: [0, 86_400, -3600, 1] as [Int64])
    func theServersClockIsRead(ahead: Int64) async throws {
        let server = try FakeTimeServer { [.init(bytes: Self.answer(ahead: .seconds(ahead)).bytes(to: $0))] }
        let sample = try await client(server.port).sample()
        #expect(sample.source == .ntp)
        #expect(sample.roundTrip >= .milliseconds(2))
        var estimator = ClockEstimator()
        #expect(estimator.add(sample) == .used)
        let estimate = try #require(estimator.estimate)
        let error = estimate.offset.wholeMilliseconds - ahead * 1000
        #expect(abs(error) <= estimate.uncertainty.wholeMilliseconds)
        #expect(estimate.uncertainty < .milliseconds(20))
    }

    @Test func responseWithExtensionsIsAccepted() async throws {
        let server = try FakeTimeServer {
            [.init(bytes: Self.answer().bytes(to: $0) + Array(repeating: 9, count: 20))]
        }
        _ = try await client(server.port).sample()
    }

    @Test func responsesToOtherRequestsOrFromOtherAddressesAreIgnored() async throws {
        let server = try FakeTimeServer { question in
            var guessed = Self.answer(ahead: .seconds(9999))
            guessed.originate = 12345
            var deny = guessed
            (deny.stratum, deny.reference) = (0, Array("DENY".utf8))
            let right = Self.answer().bytes(to: question)
            return [
                .init(bytes: guessed.bytes(to: question)), .init(bytes: deny.bytes(to: question)),
                .init(bytes: Array(right.prefix(47))), .init(bytes: question),
                .init(bytes: Self.answer(ahead: .seconds(9999)).bytes(to: question), isFromElsewhere: true),
                .init(bytes: right),
            ]
        }
        // A reflected request has the nonce in its last bytes, not in the field of a response.
        let sample = try await client(server.port).sample()
        #expect(sample.serverTime - Self.wall < .seconds(1))
    }

    @Test func everyRequestHasItsOwnNonce() async throws {
        let server = try FakeTimeServer { [.init(bytes: Self.answer().bytes(to: $0))] }
        let client = client(server.port)
        var seen: Set<[UInt8]> = []
        for _ in 0..<20 { _ = try await client.sample() }
        for await question in server.questions {
            #expect(question.count == 48)
            seen.insert(Array(question.suffix(8)))
            if seen.count == 20 { break }
        }
        #expect(!seen.contains(Array(repeating: 0, count: 8)))
    }

    @Test func responseToThePreviousRequestIsIgnored() async throws {
        let last = LastAnswer()
        let server = try FakeTimeServer { question in
            let late = last.exchange(Self.answer(ahead: .seconds(500)).bytes(to: question))
            return late.map { [.init(bytes: $0), .init(bytes: Self.answer().bytes(to: question))] } ?? []
        }
        // The clock advances so fast that the first request times out immediately.
        await #expect(throws: NTPError.timeout) {
            try await client(server.port, step: .seconds(3), timeout: .seconds(2)).sample()
        }
        var questions = server.questions.makeAsyncIterator()
        _ = await questions.next()
        let sample = try await client(server.port).sample()
        #expect(sample.serverTime - Self.wall < .seconds(1))
    }

    private final class LastAnswer: Sendable {
        /// Guarded by `lock`.
        private nonisolated(unsafe) var bytes: [UInt8]?
        private let lock = NSLock()

        func exchange(_ new: [UInt8]) -> [UInt8]? {
            lock.withLock {
                defer { bytes = new }
                return bytes
            }
        }
    }

    @Test(arguments: [
        ("RATE", NTPError.rateLimited), ("DENY", .refused), ("RSTR", .refused), ("STEP", .unsynchronised),
    ])
    func kissOfDeathHasItsOwnError(code: String, expected: NTPError) async throws {
        let server = try FakeTimeServer { question in
            var answer = Self.answer()
            (answer.stratum, answer.leap, answer.reference) = (0, 3, Array(code.utf8))
            return [.init(bytes: answer.bytes(to: question))]
        }
        await #expect(throws: expected) { try await client(server.port).sample() }
    }

    @Test func silenceTimesOut() async throws {
        let server = try FakeTimeServer { _ in [] }
        await #expect(throws: NTPError.timeout) {
            try await client(server.port, step: .seconds(3), timeout: .seconds(2)).sample()
        }
    }

    @Test func floodOfUnrelatedDatagramsFails() async throws {
        let server = try FakeTimeServer { question in
            var stray = Self.answer()
            stray.originate = 1
            // Loopback can drop datagrams that exceed the buffer, but keeps their order.
            return (0..<NTPClient.strayLimit).map { _ in .init(bytes: stray.bytes(to: question)) }
        }
        await #expect(throws: NTPError.timeout) {
            try await client(server.port, step: .zero, timeout: .seconds(2)).sample()
        }
    }

    @Test func closedPortFailsImmediately() async throws {
        let port = try FreePort.take(ofDatagrams: true)
        await #expect(throws: NTPError.network) { try await client(port, step: .zero).sample() }
    }

    @Test func invalidNameDoesNotResolve() async throws {
        let name = String(repeating: "a", count: 300)
        await #expect(throws: NTPError.dns) { try await client(123, host: name).sample() }
    }

    @Test func cancellationEndsTheWaitImmediately() async throws {
        let server = try FakeTimeServer { _ in [] }
        let client = client(server.port, step: .zero)
        // Unstructured, because the test cancels it.
        let task = Task { () throws(NTPError) in try await client.sample() }
        var questions = server.questions.makeAsyncIterator()
        _ = await questions.next()
        task.cancel()
        await #expect(throws: NTPError.cancelled) { try await task.value }
    }
}
