import StarwatchCore
import Testing

@testable import StarwatchStore

/// The log that the database keeps.
@Suite struct StoredLogTests {
    private let world = World()

    @Test func theLastThousandLinesAndAllWarningsAndErrorsAreKept() async throws {
        let store = try await world.open()
        try await store.logs.append([
            LogEntry(at: world.now, level: .error, line: "error"),
            LogEntry(at: world.now, level: .warn, line: "warning"),
            LogEntry(at: world.now, level: .info, line: "info"),
        ])
        for batch in 0..<3 {
            try await store.logs.append(
                (0..<500).map { LogEntry(at: world.now, level: .debug, line: "\(batch) \($0)") }
            )
        }
        var filter = LogFilter()
        filter.limit = 5000
        let lines = try await store.logs.list(filter).map(\.entry.line)
        #expect(lines.count == 1002)
        #expect(lines.prefix(3) == ["error", "warning", "1 0"])
        #expect(lines.last == "2 499")
    }

    @Test func warningsExpireLikeErrorsAndAreLimited() async throws {
        let store = try await world.open()
        try await store.logs.append([LogEntry(at: world.now, level: .warn, line: "warning")])
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(89)).logs == 0)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(91)).logs == 1)
        let many = (0...StoreLogs.keptWarnings).map { LogEntry(at: world.now, level: .warn, line: "\($0)") }
        try await store.logs.append(many)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now).logs == 1)
    }

    @Test func linesAreSelectedByTimeLevelRunAndPosition() async throws {
        let store = try await world.open()
        try await store.logs.append([
            LogEntry(at: world.now, level: .info, runID: "run_a", line: "1"),
            LogEntry(at: world.now + .seconds(1), level: .warn, runID: "run_b", line: "2"),
            LogEntry(at: world.now + .seconds(2), level: .error, runID: "run_a", line: "3"),
        ])
        func lines(_ edit: (inout LogFilter) -> Void) async throws -> [String] {
            var filter = LogFilter()
            edit(&filter)
            return try await store.logs.list(filter).map(\.entry.line)
        }
        #expect(try await lines { _ in } == ["1", "2", "3"])
        #expect(try await lines { $0.level = .warn } == ["2", "3"])
        #expect(try await lines { $0.runID = "run_a" } == ["1", "3"])
        #expect(try await lines { $0.since = world.now + .seconds(1) } == ["2", "3"])
        #expect(try await lines { $0.limit = 2 } == ["2", "3"])
        #expect(
            try await lines { filter in
                filter.after = 1
                filter.limit = 1
            } == ["2"]
        )
    }
}
