import Foundation
import Testing

/// The time zones of the machine, as the built program uses them.
@Suite(.timeLimit(.minutes(5))) struct TimeZoneTests {
    private let workspace: Workspace
    private var config: String { workspace.path("starwatch.yaml") }

    init() throws {
        workspace = try Workspace()
        try workspace.write(
            """
            server: {url: "http://127.0.0.1:9", dialect: endorser}
            identity: {did: "did:ethr:0x0000000000000000000000000000000000000001"}
            storage: {path: \(workspace.path("starwatch.db"))}
            http: {listen: "127.0.0.1:0"}
            control: {socket: \(workspace.path("control.sock"))}
            polls:
              west: {kind: offers_to_me, schedule: "0 8 * * *", timezone: America/Vancouver}
            digests:
              morning: {times: ["08:00"], timezone: America/Vancouver, poll: west}
              here: {times: ["08:00"], poll: west}
            delivery:
              sinks:
                - {name: out, kind: stdout}

            """,
            to: "starwatch.yaml"
        )
    }

    /// A database in which the zone of a file has the rules of another zone.
    private func database(_ zone: String, as name: String) throws -> String {
        let file = workspace.url.appending(path: "zoneinfo/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(zone)")).write(to: file)
        try workspace.write("# version 2099z\n", to: "zoneinfo/tzdata.zi")
        return workspace.path("zoneinfo")
    }

    /// The local time of the next run of a poll or digest, without the date.
    private func next(_ name: String, _ environment: [String: String]) async throws -> String {
        let arguments = ["next-runs", name, "--count", "1", "--config", config]
        let result = try await starwatch(arguments, environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        return String(try #require(result.output.split(separator: " ").first).dropFirst(11))
    }

    @Test func theRulesAreThoseOfTheMachine() async throws {
        let folder = try database("America/Caracas", as: "America/Vancouver")
        let environment = ["TZDIR": folder, "TZ": "America/Vancouver"]
        for name in ["west", "morning", "here"] { #expect(try await next(name, environment) == "08:00:00-04:00") }
        let check = try await starwatch("check", "--config", config, environment: environment)
        #expect(check.output.contains("Time zones: tzdata 2099z in \(folder);"))
        #expect(check.output.contains("the machine's own is America/Vancouver, from TZ."))
    }

    @Test func withoutFilesTheRulesInTheProgramApplyAndCheckSaysSo() async throws {
        let environment = ["TZDIR": workspace.path("none"), "TZ": "Asia/Tokyo"]
        #expect(try await next("west", environment).hasPrefix("08:00:00-0"))
        let check = try await starwatch("check", "--config", config, environment: environment)
        #expect(check.status == 0, "\(check.errors)")
        #expect(check.output.contains(/tzdata 20\d\d[a-z] in the program, because the machine has no zone files;/))
        #expect(check.errors.contains(":7: polls.west.timezone: warning: has no file in this machine's time zone"))
        #expect(check.errors.contains(":9: digests.morning.timezone: warning: has no file"))
    }

    @Test(arguments: [
        ("CET-12CEST-13,0/0,J365/25", "+13:00"), ("<+03>-3", "+03:00"), ("posix/Asia/Tokyo", "+09:00"),
        (":/usr/share/zoneinfo/right/Asia/Tokyo", "+09:00"), ("", "+00:00"),
    ])
    func theMachinesOwnZoneIsReadInEachForm(variable: String, offset: String) async throws {
        #expect(try await next("here", ["TZ": variable]) == "08:00:00\(offset)")
    }

    @Test func anUnreadableZoneIsAnErrorWhereItIsNeeded() async throws {
        let problem = "digests.here.timezone is not set, and this machine's time zone cannot be read"
        for variable in ["Nowhere/None", "/nonexistent", config] {
            let check = try await starwatch("check", "--config", config, environment: ["TZ": variable])
            #expect(check.status == 2)
            #expect(check.errors.contains(problem))
            let runs = try await starwatch("next-runs", "here", "--config", config, environment: ["TZ": variable])
            #expect(runs.status == 1 && runs.output.isEmpty)
            #expect(try await next("morning", ["TZ": variable]).hasPrefix("08:00:00-0"))
        }
        let damaged = try database("UTC", as: "America/Vancouver")
        try workspace.write("No zone.\n", to: "zoneinfo/America/Vancouver")
        let check = try await starwatch("check", "--config", config, environment: ["TZDIR": damaged, "TZ": ""])
        #expect(check.status == 2)
        #expect(check.errors.contains("polls.west.timezone: cannot be read, because \(damaged)/America/Vancouver"))

        // Nothing is in the machine's zone any more.
        let text = try String(contentsOfFile: config, encoding: .utf8)
        let others = text.split(separator: "\n").filter { !$0.contains("here:") }
        try workspace.write(others.joined(separator: "\n"), to: "starwatch.yaml")
        let other = try await starwatch("check", "--config", config, environment: ["TZ": "Nowhere/None"])
        #expect(other.status == 0)
        #expect(other.errors.contains("warning: No setting needs this machine's time zone, which cannot be read"))
    }
}
