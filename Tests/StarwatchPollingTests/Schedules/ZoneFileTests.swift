import Foundation
import StarwatchCore
import StarwatchTestKit
import Testing

@testable import StarwatchPolling

/// Zone files in a folder of the test. Each is a copy of another zone's file, so that its rules are those of no release.
@Suite struct ZoneFileTests {
    private let folder: TestFolder
    private let database: ZoneDatabase
    private let winter = Timestamp(iso8601: "2026-12-01T00:00:00Z")!

    init() throws {
        folder = try TestFolder()
        database = ZoneDatabase(folders: [folder.path("first"), folder.path("second")])
        for name in ["first/Europe", "second/Europe"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
    }

    /// Writes a new file, as the installation of another tzdata does.
    private func install(_ zone: String, as name: String) throws {
        let data = try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/\(zone)"))
        try data.write(to: URL(filePath: folder.path(name)), options: .atomic)
    }

    private func hours(_ zone: any TimeZoneRules) -> Int { zone.offsetSeconds(at: winter) / 3600 }

    @Test func theFileOfTheMachineGoesBeforeTheRulesInTheProgram() throws {
        #expect(try hours(database.zone("Europe/Zurich")) == 1)
        try install("Asia/Tokyo", as: "second/Europe/Zurich")
        let zone = try database.zone("Europe/Zurich")
        #expect(hours(zone) == 9 && zone.identifier == "Europe/Zurich")
        try install("Asia/Dubai", as: "first/Europe/Zurich")
        #expect(try hours(database.zone("Europe/Zurich")) == 4)
    }

    @Test func aZoneThatOnlyTheMachineKnowsIsKnown() throws {
        #expect(throws: ZoneError.unknown) { try database.zone("Europe/New_Place") }
        try install("Asia/Tokyo", as: "first/Europe/New_Place")
        #expect(try hours(database.zone("Europe/New_Place")) == 9)
    }

    @Test func aScheduleFollowsAFileThatChanges() throws {
        let zone = try NamedZone("Europe/Zurich", in: database)
        let schedule = Schedule.cron(try CronExpression("0 8 * * *"), zone: zone)
        #expect(zone.isBundled)
        #expect(schedule.next(after: winter)?.iso8601 == "2026-12-01T07:00:00.000Z")
        for (other, time) in [("America/Phoenix", "15"), ("Asia/Dubai", "04")] {
            try install(other, as: "first/Europe/Zurich")
            #expect(schedule.next(after: winter)?.iso8601 == "2026-12-01T\(time):00:00.000Z")
            #expect(schedule.occurrences(after: winter, count: 1).map(\.offsetSeconds) == [hours(zone) * 3600])
        }
        #expect(!zone.isBundled)
        // A running agent keeps what it has.
        try folder.write("damaged", to: "first/Europe/Zurich")
        #expect(hours(zone) == 4)
        try FileManager.default.removeItem(atPath: folder.path("first/Europe/Zurich"))
        #expect(hours(zone) == 4)
    }

    @Test func aFileThatIsNoZoneIsRefusedAndNotReplacedByOtherRules() throws {
        let path = try folder.write("Zurich\n", to: "first/Europe/Zurich")
        #expect(throws: ZoneError.file(path, "is not a time zone file")) { try database.zone("Europe/Zurich") }
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 2 << 20)
        #expect(throws: ZoneError.file(path, "is not a time zone file")) { try database.zone("Europe/Zurich") }
    }

    @Test(arguments: [
        "", "/", "../first/Europe/Zurich", "Europe//Zurich", "Europe/./Zurich", "/etc/localtime", "Europe",
    ])
    func aNameThatLeavesTheFolderIsNoFile(name: String) throws {
        try install("Asia/Tokyo", as: "first/Europe/Zurich")
        #expect(database.file(of: name) == nil)
    }

    @Test func utcNeedsNoFile() throws {
        for name in ["UTC", "Etc/UTC"] { #expect(try database.zone(name) as? FixedZone == .utc) }
    }

    @Test func theVersionIsThatOfTheFiles() throws {
        try FileManager.default.removeItem(atPath: folder.path("first"))
        try FileManager.default.removeItem(atPath: folder.path("second/Europe"))
        #expect(database.data == .bundled)
        #expect(ZoneData.bundled.version.wholeMatch(of: /20\d\d[a-z]/) != nil)
        try folder.write("# A comment\n", to: "second/tzdata.zi")
        #expect(database.data == ZoneData(source: .machine, version: "unknown", folder: folder.path("second")))
        try folder.write("2099y\n", to: "second/+VERSION")
        #expect(database.data.version == "2099y")
        try folder.write("# version 2099z\n# redo\n", to: "second/tzdata.zi")
        #expect(database.data.version == "2099z")
        try folder.write("# version 2099\"}\n", to: "second/tzdata.zi")
        #expect(database.data.version == "2099y")
    }
}
