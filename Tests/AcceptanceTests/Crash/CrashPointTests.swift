import Foundation
import MockEndorser
import Testing

/// A kill -9 before any write of the agent, or in the middle of one, loses nothing and repeats nothing.
///
/// A write is whatever leaves the process: to the database and its journals, to the file sink, to a socket. With
/// `STARWATCH_CRASH_POINTS=all` the agent dies before every one of them and in the middle of every one, else at a number
/// of them, others each time.
@Suite(.serialized) struct CrashPointTests {
    /// Writes at which to kill the agent: evenly spread from a random one.
    static func points(of writes: Int, atMost usual: Int) -> [Int] {
        let asked = ProcessInfo.processInfo.environment["STARWATCH_CRASH_POINTS"]
        let count = asked == "all" ? writes : min(writes, asked.flatMap { Int($0) } ?? usual)
        let offset = Int.random(in: 0..<writes)
        return (0..<count).map { ($0 * writes / count + offset) % writes + 1 }
    }

    /// The same, each with whether half of that write is done.
    static func deaths(of writes: Int, atMost usual: Int) -> [(point: Int, isTorn: Bool)] {
        let points = points(of: writes, atMost: usual)
        if points.count < writes { return points.map { ($0, Bool.random()) } }
        return points.flatMap { [($0, false), ($0, true)] }
    }

    @Test(arguments: MockDialect.allCases)
    func aCycleThatEndsBeforeAnyOfItsWritesIsFinishedByTheNext(dialect: MockDialect) async throws {
        let world = try await AgentWorld(dialect)
        try await world.cycle()
        let writes = try await world.writesOfACycle()
        #expect(writes > 30)
        let deaths = Self.deaths(of: writes, atMost: 10)
        var kills = 0
        for (point, isTorn) in deaths {
            world.mock.publish(count: 3)
            let killed = try await world.cycle(FaultLibrary.dying(at: point, isTorn: isTorn))
            if killed.status == SIGKILL { kills += 1 }
            try await world.expectAllIsWell("killed at write \(point) of \(writes), torn: \(isTorn)")
        }
        // A cycle does not always take as many writes.
        #expect(kills > deaths.count / 2)
        try await world.mock.stop()
    }

    @Test func aDatabaseWhoseMakingEndsBeforeAnyOfItsWritesIsMadeByTheNextStart() async throws {
        let first = try await AgentWorld(.canonical)
        let writes = try await first.writesOfACycle()
        let deaths = Self.deaths(of: writes, atMost: 10)
        var kills = 0
        for (point, isTorn) in deaths {
            let world = try await AgentWorld(.canonical, mock: first.mock)
            let killed = try await world.cycle(FaultLibrary.dying(at: point, isTorn: isTorn))
            if killed.status == SIGKILL { kills += 1 }
            try await world.expectAllIsWell("killed at write \(point) of \(writes), torn: \(isTorn)", isHookOurs: false)
        }
        // The first cycle does not always take as many writes either.
        #expect(kills > deaths.count / 2)
        try await first.mock.stop()
    }

    @Test(arguments: MockDialect.allCases)
    func anAgentThatRunsAndDiesAtWriteAfterWriteLosesNothing(dialect: MockDialect) async throws {
        let world = try await AgentWorld(dialect)
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
