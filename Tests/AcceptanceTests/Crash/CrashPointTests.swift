import Foundation
import MockEndorser
import Testing

/// A kill -9 before any write of the agent, or in the middle of one, loses nothing and repeats nothing.
///
/// A write is whatever leaves the process: to the database and its journals, to the file sink, to a socket. With
/// `STARWATCH_CRASH_POINTS=all` the agent dies at every one of them, else at a number of them, others each time.
@Suite(.serialized) struct CrashPointTests {
    /// Where to die, of so many writes: at evenly spread ones, from a random one on.
    static func points(of writes: Int, atMost usual: Int) -> [Int] {
        let asked = ProcessInfo.processInfo.environment["STARWATCH_CRASH_POINTS"]
        let count = asked == "all" ? writes : min(writes, asked.flatMap { Int($0) } ?? usual)
        let offset = Int.random(in: 0..<writes)
        return (0..<count).map { ($0 * writes / count + offset) % writes + 1 }
    }

    @Test(arguments: MockDialect.allCases)
    func aCycleThatEndsBeforeAnyOfItsWritesIsFinishedByTheNext(dialect: MockDialect) async throws {
        let world = try await CrashWorld(dialect)
        try await world.cycle()
        let writes = try await world.writesOfACycle()
        #expect(writes > 30)
        var deaths = 0
        for point in Self.points(of: writes, atMost: 10) {
            let isTorn = point % 2 == 0
            world.mock.publish(count: 3)
            let killed = try await world.cycle(FaultLibrary.dying(at: point, isTorn: isTorn))
            if killed.status == SIGKILL { deaths += 1 }
            try await world.expectAllIsWell("killed at write \(point) of \(writes), torn: \(isTorn)")
        }
        #expect(deaths > 0)
        try await world.mock.stop()
    }

    @Test func aDatabaseWhoseMakingEndsBeforeAnyOfItsWritesIsMadeByTheNextStart() async throws {
        let first = try await CrashWorld(.canonical)
        let writes = try await first.writesOfACycle()
        for point in Self.points(of: writes, atMost: 10) {
            let world = try await CrashWorld(.canonical, mock: first.mock)
            let isTorn = point % 2 == 0
            let killed = try await world.cycle(FaultLibrary.dying(at: point, isTorn: isTorn))
            #expect(killed.status == SIGKILL)
            try await world.expectAllIsWell("killed at write \(point) of \(writes), torn: \(isTorn)", isHookOurs: false)
        }
        try await first.mock.stop()
    }

    @Test(arguments: MockDialect.allCases)
    func anAgentThatRunsAndDiesAtWriteAfterWriteLosesNothing(dialect: MockDialect) async throws {
        let world = try await CrashWorld(dialect)
        try await world.cycle()
        for point in Self.points(of: 150, atMost: 5) {
            world.mock.publish(count: 3)
            // It polls every second, so it comes to that write sooner or later.
            let killed = try await starwatch(
                "run",
                "--config",
                world.config,
                environment: FaultLibrary.dying(at: point)
            )
            #expect(killed.status == SIGKILL, "\(killed.errors)")
            if point % 3 == 0 { try await world.expectAllIsWell("killed at write \(point) of a run") }
        }
        try await world.expectAllIsWell("after the last run")
        try await world.mock.stop()
    }
}
