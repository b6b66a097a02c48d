import Foundation
import MockEndorser
import ProgramTestKit
import Testing

extension AgentWorld {
    /// For agents that run one cycle after the other and may die in each.
    ///
    /// - Parameters:
    ///   - shared: A server to share; `nil` starts one.
    ///   - limits: Lines of the section.
    ///   - isEncrypted: `nil` follows the run of the tests.
    init(
        _ dialect: MockDialect,
        mock shared: MockServer? = nil,
        limits: String = "",
        isEncrypted: Bool? = nil
    ) async throws {
        try await self.init(mock: shared) {
            $0.dialect = dialect
            $0.planCount = 400
            $0.acknowledgementsPerMinute = nil
        } configure: { configuration, workspace in
            configuration.sinks = TestConfiguration.webhook(configuration.server) + "\n" + configuration.sinks
            configuration.groupInterval = "0s"
            configuration.logLevel = "info"
            configuration.limits = limits
            guard let isEncrypted else { return }
            configuration.isEncrypted = isEncrypted
            try workspace.writeMasterKey()
        }
    }

    /// The file of the file sink.
    var file: URL { workspace.url.appending(path: "notifications.jsonl") }

    /// One cycle with its delivery and acknowledgement, or as much of it as the environment allows.
    @discardableResult
    func cycle(_ environment: [String: String] = [:]) async throws -> CommandResult {
        try await starwatch("poll", "starred_projects", "--config", config, environment: environment)
    }

    /// Number of writes in a cycle of three changes.
    func writesOfACycle() async throws -> Int {
        mock.publish(count: 3)
        let result = try await cycle(FaultLibrary.counting(in: workspace.path("tally")))
        #expect(result.status == 0, "\(result.errors)")
        let tally = try String(contentsOfFile: workspace.path("tally"), encoding: .utf8)
        return tally.split(separator: "\n").count
    }

    /// Runs cycles until nothing is left to do, and checks the promises.
    ///
    /// - Parameters:
    ///   - isHookOurs: Whether only this world's agents deliver to the mock's webhook.
    ///   - mayRepeat: Whether a change may have come more than once, because the database lost what it had stored.
    func expectAllIsWell(_ what: String, isHookOurs: Bool = true, mayRepeat: Bool = false) async throws {
        func sorted(_ ids: [String]) -> [String] { mayRepeat ? Set(ids).sorted() : ids.sorted() }
        let published = mock.publishedIDs
        let open = "SELECT count(*) FROM notification_outbox WHERE state <> 'acknowledged'"
        var last = CommandResult(status: -1, output: "", errors: "")
        var isDone = false
        for _ in 0..<5 where !isDone {
            last = try await cycle()
            guard last.status == 0 else { break }
            let above = "\(open) AND jwt_id <= (SELECT watermark FROM watermarks)"
            #expect(try Database.integer(database, above) == 0, "\(what): the watermark is above an open row")
            isDone = try Database.integer(database, "SELECT count(*) FROM notification_outbox") == published.count
            if isDone { isDone = try Database.integer(database, open) == 0 }
        }
        // After several pages the watermark stays below the second in which they began, and follows in a later cycle.
        let deadline = ContinuousClock.now + longestWait
        while isDone, last.status == 0, try Database.watermark(at: database) != published.max(), .now < deadline {
            last = try await cycle()
        }
        try #require(last.status == 0, "\(what): \(last.output)\(last.errors)")
        #expect(try Database.integer(database, open) == 0, "\(what): rows are left")

        let notifications = try self.notifications()
        #expect(sorted(notifications.flatMap(\.changes)) == published.sorted(), "\(what): the file's changes")
        #expect(Set(notifications.map(\.id)).count == notifications.count, "\(what): the file's ids")
        #expect(try Database.watermark(at: database) == published.max(), "\(what): the watermark")
        #expect(try Database.booksBalance(database), "\(what): the books")
        #expect(try Database.read(database, "PRAGMA integrity_check") == "ok", "\(what): the database")
        if isHookOurs {
            let received = mock.receivedNotifications
            #expect(sorted(received.flatMap(\.jwtIDs)) == published.sorted(), "\(what): the webhook's changes")
            let oneContentEach = received.allSatisfy(\.bodiesAgree)
            #expect(oneContentEach, "\(what): an id has two contents")
        }
        if mock.options.dialect == .canonical {
            #expect(mock.acknowledgedIDs.sorted() == published.sorted(), "\(what): what was acknowledged")
        }
    }

    /// Lines of the file sink's file and of its rotated files.
    func notifications() throws -> [(id: String, changes: [String])] {
        struct Line: Decodable {
            struct Change: Decodable { let jwt_id: String }
            let id: String
            let changes: [Change]
        }
        let files = try FileManager.default.contentsOfDirectory(at: workspace.url, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(file.lastPathComponent) }
        let data = try files.reduce(into: Data()) { try $0 += Data(contentsOf: $1) }
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            let line = try JSONDecoder().decode(Line.self, from: Data(line))
            return (line.id, line.changes.map(\.jwt_id))
        }
    }
}
