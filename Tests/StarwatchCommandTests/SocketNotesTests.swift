import Foundation
import Glibc
import Testing

@testable import StarwatchCommand

@Suite struct SocketNotesTests {
    private let folder: TemporaryFolder
    private let notes: SocketNotes

    init() throws {
        folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o700) == 0)
        notes = SocketNotes(
            environment: ["RUNTIME_DIRECTORY": folder.path, "XDG_RUNTIME_DIR": folder.path + "/xdg"],
            temporaryFolder: folder.path
        )
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    @Test func aNoteIsFoundByItsConfigurationUntilTheAgentEnds() throws {
        notes.note("/run/a.sock", database: "/var/a.db", of: "/etc/a.yaml")
        #expect(notes.note(of: "/etc/a.yaml")?.socket == "/run/a.sock")
        #expect(notes.note(of: "/etc/b.yaml")?.socket == nil)
        #expect(notes.note(of: "/etc/a.yaml")?.database == "/var/a.db")
        notes.note("/run/b.sock", database: "/var/a.db", of: "/etc/a.yaml")
        #expect(notes.note(of: "/etc/a.yaml")?.socket == "/run/b.sock")
        notes.remove("/etc/a.yaml")
        #expect(notes.note(of: "/etc/a.yaml")?.socket == nil)
        #expect(names == [])
    }

    @Test func aUserWithoutARuntimeFolderHasAClosedOneOfItsOwn() throws {
        let own = SocketNotes(environment: [:], user: TemporaryFolder.user, temporaryFolder: folder.path)
        // The folder is the running user's, whom this user does not trust.
        guard geteuid() == 0 else { return }
        let mine = SocketNotes(environment: [:], user: 0, temporaryFolder: folder.path)
        guard FileManager.default.fileExists(atPath: "/run/user/0") == false else { return }
        mine.note("/run/a.sock", database: "/var/a.db", of: "/etc/a.yaml")
        #expect(names == ["starwatch-0"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/starwatch-0")[.posixPermissions]
        #expect(mode as? Int == 0o700)
        #expect(own.note(of: "/etc/a.yaml")?.socket == nil)
    }

    @Test(arguments: [0o770, 0o707, 0o777])
    func aFolderThatOthersCanWriteToIsNotTrusted(mode: Int) throws {
        notes.note("/run/a.sock", database: "/var/a.db", of: "/etc/a.yaml")
        #expect(chmod(folder.path, mode_t(mode)) == 0)
        #expect(notes.note(of: "/etc/a.yaml")?.socket == nil)
    }

    @Test func aFolderOfAnotherUserIsNotTrusted() throws {
        guard geteuid() == 0 else { return }
        notes.note("/run/a.sock", database: "/var/a.db", of: "/etc/a.yaml")
        #expect(chown(folder.path, TemporaryFolder.stranger, 0) == 0)
        #expect(notes.note(of: "/etc/a.yaml")?.socket == nil)
        notes.note("/run/b.sock", database: "/var/a.db", of: "/etc/a.yaml")
        #expect(chown(folder.path, 0, 0) == 0)
        #expect(notes.note(of: "/etc/a.yaml")?.socket == "/run/a.sock")
    }

    @Test func aLinkOrAPipeInPlaceOfANoteIsNotRead() throws {
        notes.note("/run/a.sock", database: "/var/a.db", of: "/etc/a.yaml")
        let note = try #require(names.first)
        let path = folder.path + "/" + note
        #expect(rename(path, folder.path + "/moved") == 0)
        #expect(symlink(folder.path + "/moved", path) == 0)
        #expect(notes.note(of: "/etc/a.yaml")?.socket == nil)
        #expect(unlink(path) == 0)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(notes.note(of: "/etc/a.yaml")?.socket == nil)
    }

    /// The hash in the name alone does not say whose it is.
    @Test func aNoteOfAnotherConfigurationIsNotUsed() throws {
        notes.note("/run/a.sock", database: "/var/a.db", of: "/etc/a.yaml")
        let note = try #require(names.first)
        for text in ["/etc/b.yaml\n/run/a.sock\n", "/etc/a.yaml\nrelative\n", "/etc/a.yaml", "", "\u{0}"] {
            try folder.write(text, to: note)
            #expect(notes.note(of: "/etc/a.yaml")?.socket == nil, "\(text)")
        }
    }

    @Test func notesOfKilledAgentsGoWithTheirConfiguration() throws {
        let config = try folder.write("", to: "a.yaml")
        notes.note("/run/a.sock", database: "/var/a.db", of: config)
        notes.note("/run/b.sock", database: "/var/a.db", of: "/nonexistent/b.yaml")
        notes.note("/run/c.sock", database: "/var/a.db", of: "/nonexistent/c.yaml")
        #expect(notes.note(of: "/nonexistent/b.yaml")?.socket == nil)
        #expect(notes.note(of: config)?.socket == "/run/a.sock")
        #expect(notes.note(of: "/nonexistent/c.yaml")?.socket == "/run/c.sock")
    }
}
