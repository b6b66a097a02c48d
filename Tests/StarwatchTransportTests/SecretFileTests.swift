import Foundation
import Glibc
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct SecretFileTests {
    private let directory = TemporaryDirectory()

    private func file(_ path: String, credentials: String? = nil) -> SecretFile {
        SecretFile(
            path: path,
            setting: "auth.secret_file",
            directory: directory.path,
            credentialsDirectory: credentials
        )
    }

    @Test(arguments: [("a\n", "a"), ("a b\nc\n", "a b\nc"), ("a\r\n", "a"), ("a", "a")])
    func oneTrailingNewlineIsRemoved(content: String, secret: String) throws {
        var file = file(directory.write("secret", content))
        #expect(try file.read() == Array(secret.utf8))
    }

    @Test func theFormOfTheSecretDecidesWhatBelongsToIt() throws {
        let path = directory.write("secret", "\u{FEFF}abc \r\n\n")
        var token = SecretFile(path: path, setting: "token_file", holding: .token)
        #expect(try token.read() == Array("abc".utf8))
        var bytes = SecretFile(path: path, setting: "secret_file")
        let advice = "it has a byte order mark, spaces or blank lines around the secret; remove them"
        #expect(throws: TokenError.fileInvalid(setting: "secret_file", advice: advice)) { try bytes.read() }
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can make files of root for another user."))
    func aFileOfRootNeedsTheAgentsGroupOrAMountOfItsOwn() throws {
        let image: UInt32 = 65_532
        func read(_ mode: mode_t, seesAlone: Bool = false) throws -> [UInt8] {
            let path = directory.write("secret-\(mode)", "a", mode: mode)
            try #require(chown(path, 0, image) == 0)
            let reader = SecretReader(user: image, groups: [image], seesAlone: { _, _ in seesAlone })
            var file = SecretFile(path: path, setting: "token_file", reader: reader)
            return try file.read()
        }
        #expect(try read(0o440) == Array("a".utf8))
        #expect(throws: TokenError.fileForeignPermissions(setting: "token_file")) { try read(0o444) }
        #expect(try read(0o444, seesAlone: true) == Array("a".utf8))
        let sentence = TokenError.fileForeignPermissions(setting: "x").description
        #expect(sentence.contains("$CREDENTIALS_DIRECTORY") && !sentence.contains("chmod"))
    }

    @Test func anOrdinaryFileIsSeenByAllOfTheMachine() {
        let path = directory.write("secret", "a")
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(!SecretReader.isPrivate(path, on: "0:0"))
        #expect(!SecretReader.isPrivate(path + "-missing", on: "0:0"))
        #expect(SecretReader.ownGroups.contains(getegid()))
    }

    @Test(arguments: [mode_t(0o640), 0o604, 0o660, 0o644, 0o610]) func fileAccessibleToOthersIsRejected(mode: mode_t) {
        var file = file(directory.write("secret", "a", mode: mode))
        #expect(throws: TokenError.filePermissions(setting: "auth.secret_file")) { try file.read() }
        #expect(TokenError.filePermissions(setting: "x").description.contains("chmod 600"))
    }

    @Test func fileOfAnotherUserIsRejectedExceptForRoot() throws {
        let path = directory.write("secret", "a")
        // Only root can change an owner.
        let owner: UInt32 = geteuid() == 0 ? 4_000_000 : geteuid()
        try #require(chown(path, owner, gid_t.max) == 0)
        func read(as user: UInt32) throws -> [UInt8] {
            var file = SecretFile(path: path, setting: "auth.secret_file", reader: SecretReader(user: user))
            return try file.read()
        }
        #expect(throws: TokenError.fileOwner(setting: "auth.secret_file")) { try read(as: 4_000_001) }
        #expect(TokenError.fileOwner(setting: "x").description.contains("chown"))
        #expect(try read(as: owner) == Array("a".utf8))
        #expect(try read(as: 0) == Array("a".utf8))
    }

    @Test func missingFileDirectoryAndEmptyFileAreRejected() {
        var missing = file("nowhere")
        #expect(throws: TokenError.fileUnreadable(setting: "auth.secret_file")) { try missing.read() }
        var directory = file(self.directory.path)
        #expect(throws: TokenError.fileUnreadable(setting: "auth.secret_file")) { try directory.read() }
        var empty = file(self.directory.write("empty", "\n"))
        #expect { try empty.read() } throws: { if case TokenError.fileInvalid = $0 { true } else { false } }
    }

    @Test func fileIsRereadOnlyAfterAChange() throws {
        let path = directory.write("secret", "one")
        var file = file(path)
        #expect(try file.readIfChanged() == Array("one".utf8))
        #expect(try file.readIfChanged() == nil)
        // Secrets are usually replaced by renaming another file.
        let other = directory.write("other", "two")
        #expect(rename(other, path) == 0)
        #expect(try file.readIfChanged() == Array("two".utf8))
        #expect(try file.readIfChanged() == nil)
    }

    @Test func changedFileIsCheckedAgain() throws {
        let path = directory.write("secret", "one")
        var file = file(path)
        _ = try file.read()
        let other = directory.write("other", "two", mode: 0o644)
        #expect(rename(other, path) == 0)
        #expect(throws: TokenError.filePermissions(setting: "auth.secret_file")) { try file.readIfChanged() }
    }

    @Test func relativePathsPreferCredentials() throws {
        let credentials = TemporaryDirectory()
        _ = directory.write("secret", "from the directory")
        var plain = file("secret", credentials: credentials.path)
        #expect(try plain.read() == Array("from the directory".utf8))
        // systemd's access control list appears as a group permission.
        _ = credentials.write("secret", "from systemd", mode: 0o440)
        var credential = file("secret", credentials: credentials.path)
        #expect(try credential.read() == Array("from systemd".utf8))
        _ = credentials.write("open", "a", mode: 0o444)
        var open = file("open", credentials: credentials.path)
        #expect(throws: TokenError.filePermissions(setting: "auth.secret_file")) { try open.read() }
    }

    @Test func descriptionHidesTheContent() throws {
        var file = file(directory.write("secret", "hush"))
        _ = try file.read()
        #expect(!"\(file)".contains("hush"))
        #expect(!String(reflecting: file).contains("hush"))
    }
}
