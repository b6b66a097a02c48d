import Foundation
import Glibc
import Testing

@testable import StarwatchCommand

/// Who besides root and the agent's user can change a file, also through the links on the way to it.
@Suite struct FileTrustTests {
    private let folder: TemporaryFolder

    /// `safe/s.yaml` → `open/mid.yaml` → `real/s.yaml`.
    init() throws {
        folder = try TemporaryFolder()
        for name in ["safe", "open", "real"] { try makeFolder(name) }
        try folder.write("", to: "real/s.yaml")
        try link("safe/s.yaml", to: folder.path + "/open/mid.yaml")
        try link("open/mid.yaml", to: "../real/s.yaml")
    }

    private func makeFolder(_ name: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try FileManager.default.createDirectory(
            atPath: folder.path + "/" + name,
            withIntermediateDirectories: false,
            attributes: attributes
        )
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/" + name, withDestinationPath: target)
    }

    private func open(_ name: String, mode: Int = 0o777) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path + "/" + name)
    }

    private func problem(_ name: String = "safe/s.yaml") -> String? {
        FileTrust(users: [geteuid()]).problem(of: folder.path + "/" + name)?
            .sentence(takeOver: "run chown")
            .replacing(folder.path, with: "FOLDER")
    }

    @Test(arguments: ["safe", "open", "real"])
    func theFolderOfEachLinkOnTheWayCounts(name: String) throws {
        #expect(problem() == nil)
        try open(name)
        #expect(problem() == "can be replaced by other users; run 'chmod go-w FOLDER/\(name)'.")
    }

    @Test(arguments: ["safe", "open", "real"])
    func aLinkAboveTheFileIsFollowedToo(name: String) throws {
        try link("open/dir", to: "../real")
        try link("safe/dir", to: "../open/dir")
        #expect(problem("safe/dir/s.yaml") == nil)
        try open(name)
        #expect(problem("safe/dir/s.yaml") == "can be replaced by other users; run 'chmod go-w FOLDER/\(name)'.")
    }

    /// In a sticky folder, others can add files, and replace their own.
    @Test(.enabled(if: geteuid() == 0)) func aLinkOfAnotherUserInAStickyFolderCounts() throws {
        try open("open", mode: 0o1777)
        #expect(problem() == nil)
        let path = folder.path + "/open/mid.yaml"
        try #require(lchown(path, TemporaryFolder.stranger, 0) == 0)
        let says = "is behind a link of another user; run 'chown -h' on FOLDER/open/mid.yaml, or name the file itself."
        #expect(problem() == says)
        // Nobody else can replace it here.
        try open("open", mode: 0o755)
        #expect(problem() == nil)
    }

    @Test func aCircleOfLinksEnds() throws {
        try link("safe/a", to: "b")
        try link("safe/b", to: "a")
        #expect(problem("safe/a") == nil)
        try open("safe")
        #expect(problem("safe/a")?.hasPrefix("can be replaced by other users") == true)
    }
}
