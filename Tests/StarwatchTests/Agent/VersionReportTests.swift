import Foundation
import Testing

@testable import Starwatch

@Suite struct VersionReportTests {
    @Test func packagedVersionsAreThoseOfTheBuild() {
        let expected = [PartVersion("swift-log", "1.16.2"), PartVersion("yams", "6.2.2")]
        #expect(PackageVersions.parse("swift-log 1.16.2, yams 6.2.2") == expected)
    }

    @Test func programInItsBuildFolderTellsWhatWasCheckedOut() throws {
        let folder = try TestFolder()
        let program = try programInScratch(folder, linkedAfterwards: true)
        let expected = [PartVersion("swift-log", "1.16.2"), PartVersion("yams", "0123abcd")]
        #expect(PackageVersions.checkedOut(for: program) == expected)
    }

    @Test func programLinkedBeforeTheCheckoutDoesNotKnowIt() throws {
        let folder = try TestFolder()
        #expect(PackageVersions.checkedOut(for: try programInScratch(folder, linkedAfterwards: false)) == nil)
    }

    @Test func programElsewhereDoesNotKnowItsPackages() throws {
        #expect(PackageVersions.checkedOut(for: URL(filePath: "/bin/true")) == nil)
        let parts = VersionReport.Parts(packages: nil)
        #expect(parts.packages.isEmpty)
        #expect(parts.packagesUnknown == "unknown: built from source; see Package.resolved")
    }

    @Test func everyLibraryIsListedWithItsVersion() {
        let parts = VersionReport(rules: 1, withParts: true).parts
        let names = parts?.libraries.map(\.name) ?? []
        for name in ["libcurl", "zlib", "SQLite", "libcrypt", "libsecp256k1"] { #expect(names.contains(name)) }
        // Debian's libcurl uses OpenSSL.
        #expect(names.contains { $0.hasSuffix("SSL") || $0.hasSuffix("TLS") })
        #expect(VersionReport(rules: 1).parts == nil)
    }

    private func programInScratch(_ folder: TestFolder, linkedAfterwards: Bool) throws -> URL {
        let scratch = folder.url.resolvingSymlinksInPath()
        let program = scratch.appending(path: "x86_64/debug/starwatch")
        try FileManager.default.createDirectory(
            at: program.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        let state = #"""
            {"object": {"dependencies": [
            {"packageRef": {"identity": "yams"}, "state": {"checkoutState": {"revision": "0123abcd", "branch": "main"}}},
            {"packageRef": {"identity": "swift-log"}, "state": {"checkoutState": {"version": "1.16.2"}}}
            ]}, "version": 7}
            """#
        let file = scratch.appending(path: "workspace-state.json")
        try Data(state.utf8).write(to: file)
        try Data().write(to: program)
        let times = linkedAfterwards ? (1.0, 2.0) : (2.0, 1.0)
        for (file, time) in [(file, times.0), (program, times.1)] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: time)],
                ofItemAtPath: file.path
            )
        }
        return program
    }
}
