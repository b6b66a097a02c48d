import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct LocalZoneTests {
    private func link(_ folder: TestFolder, to target: String) throws {
        let path = folder.path("localtime")
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func theZoneIsTheOneThatTheMachineHasNow() throws {
        let folder = try TestFolder()
        let zone = LocalZone(variable: nil, link: folder.path("localtime"), file: folder.path("timezone"))
        #expect(zone.current.identifier == "UTC")
        try link(folder, to: "/usr/share/zoneinfo/Europe/Zurich")
        #expect(zone.current.identifier == "Europe/Zurich")
        try link(folder, to: "../usr/share/zoneinfo/Asia/Tokyo")
        #expect(zone.current.identifier == "Asia/Tokyo")
    }

    @Test func aVariableGoesFirstAndAFileLast() throws {
        let folder = try TestFolder()
        try folder.write("America/New_York\n", to: "timezone")
        let (link, file) = (folder.path("localtime"), folder.path("timezone"))
        #expect(LocalZone(variable: nil, link: link, file: file).current.identifier == "America/New_York")
        #expect(LocalZone(variable: ":Asia/Tokyo", link: link, file: file).current.identifier == "Asia/Tokyo")
        #expect(LocalZone(variable: "Nowhere/None", link: link, file: file).current.identifier == "America/New_York")
    }

    @Test func anotherZoneOfTheMachineMovesWhatIsArmed() async throws {
        let folder = try TestFolder()
        try link(folder, to: "/usr/share/zoneinfo/UTC")
        let local = LocalZone(variable: nil, link: folder.path("localtime"), file: folder.path("timezone"))
        try await DigestBench.run { (bench: Bench) async throws in
            let former = bench.digests
            let digest = Digest(former.digests[0].options, token: nil, zone: { local.current })
            let service = DigestService(
                digests: [digest],
                sinks: bench.slots,
                tools: former.tools,
                context: bench.agent.runtime.context
            )
            _ = await service.pass()
            #expect(try await bench.stored().map(\.row.occurrence.fireAt) == [DigestBench.day])
            try link(folder, to: "/usr/share/zoneinfo/Europe/Zurich")
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

extension LocalZone {
    fileprivate init(variable: String?, link: String, file: String) {
        self.init()
        (self.variable, self.link, self.file) = (variable, link, file)
    }
}
