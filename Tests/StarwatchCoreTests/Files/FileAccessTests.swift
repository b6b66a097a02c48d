import StarwatchCore
import Testing

@Suite struct FileAccessTests {
    @Test(arguments: [(1000, 0o600), (0, 0o640), (0, 0o644), (1000, 0o100_644)] as [(UInt32, UInt32)])
    func aFileOfRootOrTheUserThatNobodyElseCanWriteToIsTrusted(owner: UInt32, mode: UInt32) {
        #expect(FileAccess(owner: owner, mode: mode).fileProblem(for: 1000) == nil)
    }

    @Test func anotherOwnerOrAWriterIsAProblem() {
        #expect(FileAccess(owner: 1001, mode: 0o600).fileProblem(for: 1000) == .owner)
        #expect(FileAccess(owner: 1001, mode: 0o600).fileProblem(for: 0) == .owner)
        #expect(FileAccess(owner: 0, mode: 0o660).fileProblem(for: 1000) == .mode)
        #expect(FileAccess(owner: 1000, mode: 0o1602).fileProblem(for: 1000) == .mode)
    }

    @Test func aStickyFolderKeepsTheFilesOfEachUser() {
        #expect(FileAccess(owner: 0, mode: 0o41777).folderProblem(for: 1000) == nil)
        #expect(FileAccess(owner: 0, mode: 0o40777).folderProblem(for: 1000) == .mode)
        #expect(FileAccess(owner: 1001, mode: 0o41777).folderProblem(for: 1000) == .owner)
    }

    @Test func onlyRootTakesTheSecretsOfOthers() {
        #expect(FileAccess(owner: 1001, mode: 0o600).holdsSecret(of: 0))
        #expect(!FileAccess(owner: 1001, mode: 0o600).holdsSecret(of: 1000))
        #expect(FileAccess(owner: 0, mode: 0o400).holdsSecret(of: 1000))
    }

    @Test func theAgentOnASocketIsRootTheCallerOrForRootTheFoldersOwner() {
        let folder = FileAccess(owner: 500, mode: 0o755)
        #expect(FileAccess.accepts(0, caller: 1000, folder: folder))
        #expect(FileAccess.accepts(1000, caller: 1000, folder: folder))
        #expect(!FileAccess.accepts(500, caller: 1000, folder: folder))
        #expect(FileAccess.accepts(500, caller: 0, folder: folder))
        #expect(!FileAccess.accepts(501, caller: 0, folder: folder))
        #expect(!FileAccess.accepts(500, caller: 0, folder: nil))
        #expect(!FileAccess.accepts(nil, caller: 0, folder: folder))
    }
}
