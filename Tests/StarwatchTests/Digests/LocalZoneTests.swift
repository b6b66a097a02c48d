import Foundation
import MockEndorser
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct LocalZoneTests {
    private static let machine = "/usr/share/zoneinfo"
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func link(to target: String) throws {
        let path = folder.path("localtime")
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func copy(_ name: String, to file: String) throws {
        let data = try Data(contentsOf: URL(filePath: "\(Self.machine)/\(name)"))
        try data.write(to: URL(filePath: folder.path(file)))
    }

    private func zone(_ variable: String? = nil, database: ZoneDatabase = .ofMachine) -> LocalZone {
        LocalZone(
            variable: variable,
            link: folder.path("localtime"),
            file: folder.path("timezone"),
            database: database
        )
    }

    /// The name and the offsets in seconds of January and July.
    private func shown(_ zone: LocalZone) throws -> String {
        let found = try zone.find().zone
        let offsets = ["2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z"].map {
            found.offsetSeconds(at: Timestamp(iso8601: $0)!)
        }
        return "\(found.identifier) \(offsets[0]) \(offsets[1])"
    }

    @Test func theZoneIsTheOneThatTheMachineHasNow() throws {
        let zone = zone()
        #expect(try zone.find().origin == .none)
        #expect(try shown(zone) == "UTC 0 0")
        try link(to: "\(Self.machine)/Europe/Zurich")
        #expect(try shown(zone) == "Europe/Zurich 3600 7200")
        #expect(try zone.find().origin == .file(folder.path("localtime")))
        // The zone is the link's target, also where the target has the same rules as before.
        try link(to: "\(Self.machine)/Europe/Berlin")
        #expect(try shown(zone) == "Europe/Berlin 3600 7200")
        try link(to: "\(Self.machine)/Etc/UTC")
        #expect(try shown(zone) == "UTC 0 0")
    }

    @Test func aCopyOrAMountedFileIsReadItself() throws {
        try copy("Europe/Zurich", to: "localtime")
        let zone = zone()
        #expect(try shown(zone) == "\(folder.path("localtime")) 3600 7200")
        try folder.write("Asia/Tokyo\n", to: "timezone")
        #expect(try shown(self.zone()) == "\(folder.path("localtime")) 3600 7200")
        try folder.write("Europe/Zurich\n", to: "timezone")
        #expect(try shown(self.zone()) == "Europe/Zurich 3600 7200")
        try copy("America/Phoenix", to: "localtime")
        #expect(try shown(zone) == "\(folder.path("localtime")) -25200 -25200")
        try copy("UTC", to: "localtime")
        #expect(try shown(zone) == "UTC 0 0")
    }

    /// A container's `/etc/localtime` leads to UTC, and a mount over it lies over that file.
    @Test func aFileThatIsMountedOverTheLinksTargetIsNotUTC() throws {
        try FileManager.default.createDirectory(atPath: folder.path("zoneinfo"), withIntermediateDirectories: true)
        try copy("Europe/Zurich", to: "zoneinfo/UTC")
        try link(to: folder.path("zoneinfo/UTC"))
        #expect(try shown(zone()) == "\(folder.path("localtime")) 3600 7200")
    }

    @Test(arguments: ["posix", "right"])
    func aLinkIntoAnotherFormOfTheDatabaseIsRead(form: String) throws {
        #expect(FileManager.default.fileExists(atPath: "\(Self.machine)/\(form)/Europe/Zurich"))
        try link(to: "\(Self.machine)/\(form)/Europe/Zurich")
        #expect(try shown(zone()) == "Europe/Zurich 3600 7200")
        // The file in right/ ends with the last known leap second.
        let change = Timestamp(iso8601: "2090-03-26T01:00:00Z")!
        let found = try zone().find().zone
        #expect(found.offsetSeconds(at: change) == 7200 && found.offsetSeconds(at: change - .seconds(1)) == 3600)
        #expect(try shown(zone("\(form)/Europe/Zurich")) == "Europe/Zurich 3600 7200")
        #expect(try shown(zone("\(Self.machine)/\(form)/Europe/Zurich")) == "Europe/Zurich 3600 7200")
    }

    @Test func aVariableGoesFirstAndAFileLast() throws {
        try folder.write("America/New_York\n", to: "timezone")
        #expect(try zone().find().origin == .file(folder.path("timezone")))
        #expect(zone().current.identifier == "America/New_York")
        let own = folder.path("own")
        try copy("Europe/Zurich", to: "own")
        for (variable, expected) in [
            ("Asia/Tokyo", "Asia/Tokyo 32400 32400"), (":Asia/Tokyo", "Asia/Tokyo 32400 32400"),
            ("", "UTC 0 0"), (":", "UTC 0 0"), ("UTC", "UTC 0 0"), ("UTC0", "UTC0 0 0"),
            ("UTC+3", "UTC+3 -10800 -10800"),
            (own, "\(own) 3600 7200"), (":\(own)", "\(own) 3600 7200"),
            ("\(Self.machine)/Europe/Zurich", "Europe/Zurich 3600 7200"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3 3600 7200"),
            ("<+03>-3", "<+03>-3 10800 10800"),
        ] {
            #expect(try shown(zone(variable)) == expected)
            #expect(try zone(variable).find().origin == .variable)
        }
    }

    @Test func withoutZoneFilesTheNameIsEnough() throws {
        let none = ZoneDatabase(folders: [folder.path("none")])
        try link(to: "\(folder.path("none"))/zoneinfo/Europe/Zurich")
        #expect(try shown(zone(database: none)) == "Europe/Zurich 3600 7200")
        #expect(try shown(zone("Asia/Tokyo", database: none)) == "Asia/Tokyo 32400 32400")
    }

    @Test func whatCannotBeReadIsAnErrorAndNotUTC() throws {
        func error(_ zone: LocalZone) -> String? {
            do throws(ZoneError) {
                _ = try zone.find()
                return nil
            } catch { return error.description }
        }
        #expect(error(zone("Nowhere/None"))?.contains("TZ is \"Nowhere/None\"") == true)
        #expect(error(zone("CET-1CEST,M13.5.0,M10.5.0/3"))?.contains("TZ is") == true)
        let missing = folder.path("missing")
        #expect(error(zone(missing))?.contains("\(missing) is not a file") == true)
        try folder.write("Nowhere/None\n", to: "timezone")
        #expect(error(zone())?.contains("\(folder.path("timezone")) names no known zone") == true)
        let file = try folder.write("Europe/Zurich\n", to: "localtime")
        #expect(error(zone())?.contains("\(file) is not a time zone file") == true)
        try link(to: missing)
        #expect(error(zone())?.contains("\(file) leads to no file") == true)
        try link(to: "\(Self.machine)/Nowhere/None")
        #expect(error(zone())?.contains("\(file) leads to no file") == true)
    }

    @Test func aZoneThatCanNoLongerBeReadStays() throws {
        try copy("Europe/Zurich", to: "localtime")
        let zone = zone()
        let start = Timestamp(iso8601: "2026-01-01T00:00:00Z")!
        #expect(zone.current.offsetSeconds(at: start) == 3600)
        try folder.write("damaged", to: "localtime")
        #expect(zone.current.offsetSeconds(at: start) == 3600)
        #expect(throws: ZoneError.self) { try zone.find() }
    }

    @Test func anotherZoneOfTheMachineMovesWhatIsArmed() async throws {
        try link(to: "\(Self.machine)/UTC")
        let local = zone()
        try await DigestBench.run { (bench: Bench) async throws in
            let former = bench.digests
            let digest = Digest(former.digests[0].options, token: nil, zone: { local.current })
            let service = DigestService(
                digests: [digest],
                sinks: bench.slots,
                fetcher: former.fetcher,
                writer: former.writer,
                locale: former.locale,
                account: bench.agent.runtime.account
            )
            _ = await service.pass()
            #expect(try await bench.stored().map(\.row.occurrence.fireAt) == [DigestBench.day])
            try link(to: "\(Self.machine)/Europe/Zurich")
            _ = await service.pass()
            #expect(
                try await bench.stored().map(\.row.occurrence.fireAt) == [DigestBench.day + .seconds(23 * 3600)]
            )
            // A step of the local clock, likewise.
            bench.clock.setWall(to: ManualClock.start + .seconds(86_400))
            _ = await service.pass()
            #expect(
                try await bench.stored().filter { $0.row.status == .scheduled }.map(\.row.occurrence.fireAt)
                    == [DigestBench.day + .seconds(47 * 3600)]
            )
        }
    }
}
