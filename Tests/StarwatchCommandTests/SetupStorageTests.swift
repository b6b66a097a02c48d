import Foundation
import Glibc
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

/// The encryption of a database that `starwatch init` sets up.
@Suite struct SetupStorageTests {
    private typealias Facts = SetupStorage.Facts

    private static let master = "master_key_file: master.key"

    private func decide(_ edit: (inout Facts) -> Void) throws -> SetupStorage.Encryption {
        var facts = Facts()
        edit(&facts)
        return try SetupStorage.encryption(facts, database: "/d/starwatch.db", folder: "/c")
    }

    @Test func aNewDatabaseIsEncryptedUnlessNobodyWantsIt() throws {
        #expect(try decide { _ in } == .file)
        #expect(try decide { $0.canSeal = true } == .credential)
        #expect(try decide { $0.isWanted = false } == .none)
    }

    @Test func aKeyThatExistsIsKept() throws {
        #expect(try decide { ($0.keyInFile, $0.canSeal) = ("a", true) } == .kept(setting: Self.master))
        #expect(try decide { $0.hasCredential = true } == .kept(setting: Self.master))
        #expect(try decide { ($0.database, $0.keyInFile) = (.encrypted(key: "a"), "a") } == .kept(setting: Self.master))
        let command = "master_key_command: [unwrap]"
        #expect(
            try decide { ($0.database, $0.formerSetting) = (.encrypted(key: "a"), command) } == .kept(setting: command)
        )
    }

    @Test func aClearDatabaseStaysClear() throws {
        #expect(try decide { ($0.database, $0.keyInFile, $0.canSeal) = (.clear, "a", true) } == .clear)
        #expect(try decide { ($0.database, $0.isWanted) = (.clear, false) } == .none)
    }

    @Test func aConfigurationThatCouldNotOpenItsDatabaseIsNotWritten() {
        #expect(throws: CommandError.self) { try decide { $0.database = .encrypted(key: "a") } }
        #expect(throws: CommandError.self) {
            try decide { ($0.database, $0.keyInFile) = (.encrypted(key: "a"), "b") }
        }
        #expect(throws: CommandError.self) {
            try decide { ($0.database, $0.keyInFile, $0.isWanted) = (.encrypted(key: "a"), "a", false) }
        }
    }

    @Test func theKeyLiesInAnotherFolderThanTheData() throws {
        let folder = try TemporaryFolder()
        let storage = try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: true)
        #expect(storage.path == folder.path + "/data/starwatch.db")
        let text = SetupFiles.text(SetupAnswers(), isPackaged: false, storage: storage)
        #expect(text.contains("path: data/starwatch.db\n"))
        #expect(storage.keyLine == Self.master)
        let packaged = try SetupStorage.find(in: folder.path, isPackaged: true, isWanted: true)
        #expect(packaged.path == "/var/lib/starwatch/starwatch.db" && packaged.newFolder == nil)
        let clear = try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: false)
        #expect(clear.path == folder.path + "/starwatch.db" && clear.keyLine == nil && clear.setting == nil)
    }

    @Test func theFormerSettingOfTheKeyIsFound() throws {
        let folder = try TemporaryFolder()
        let yaml = "security: {master_key_command: [/bin/cat, \"a b\"]}\n"
        _ = try folder.write(yaml, to: "starwatch.yaml")
        let storage = try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: true)
        #expect(storage.keyLine?.hasPrefix("master_key_command: [/bin/cat, ") == true)
        _ = try folder.write("a key", to: "other.key")
        _ = try folder.write("security: {master_key_file: other.key}\n", to: "starwatch.yaml")
        #expect(
            try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: true).keyLine
                == "master_key_file: other.key"
        )
    }

    /// The agent could not start with it.
    @Test(arguments: ["master_key_file: master.key", "master_key_command: [/nowhere/unwrap]"])
    func aKeyThatIsGoneIsNotKeptForANewDatabase(setting: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("security: {\(setting)}\n", to: "starwatch.yaml")
        let storage = try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: true)
        #expect(storage.encryption == .file)
    }

    @Test(arguments: [true, false])
    func theDatabaseOfTheFormerConfigurationStaysWhereItIs(isInside: Bool) async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let path = (isInside ? folder : other).path + "/my.db"
        let setting = isInside ? "my.db" : path
        var options = AgentOptions()
        options.storage.path = path
        options.initialIdentity = DID("did:ethr:0x00000000000000000000000000000000000000aa")
        try await Agent(options: options, time: SystemClock(), logSinks: []).close()
        let former = "storage: {path: \(setting)}\n"
        _ = try folder.write(former, to: "starwatch.yaml")
        for isPackaged in [true, false] {
            let storage = try SetupStorage.find(in: folder.path, isPackaged: isPackaged, isWanted: true)
            #expect(storage.path == path && storage.encryption == .clear && storage.newFolder == nil)
            let text = SetupFiles.text(SetupAnswers(), isPackaged: isPackaged, storage: storage)
            #expect(text.contains("path: \(isPackaged ? path : setting)\n"))
        }
    }

    /// Such as that of a service that was started before `init`. It has nothing to lose, and its next start encrypts it.
    @Test func aClearDatabaseWithoutDataIsEncrypted() async throws {
        let folder = try TemporaryFolder()
        var options = AgentOptions()
        options.storage.path = folder.path + "/starwatch.db"
        try await Agent(options: options, time: SystemClock(), logSinks: []).close()
        let storage = try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: true)
        #expect(storage.path == options.storage.path && storage.encryption == .file)
        _ = try await SetupKey(storage: storage, folder: folder.path, user: nil).make()
        options.security.masterKeyFile = folder.path + "/master.key"
        try await Agent(options: options, time: SystemClock(), logSinks: []).close()
        guard case .encrypted = try DatabaseEncryption.stored(at: options.storage.path) else {
            Issue.record("It is not encrypted.")
            return
        }
    }

    @Test(arguments: [false, true])
    func theNextCommandsFitAnAgentThatRuns(isRunning: Bool) {
        func commands(_ user: ServiceUser?) -> [String] {
            Setup(answers: SetupAnswers(), folder: "/f", user: user, say: { _ in }, progress: { _ in })
                .commands("/f/starwatch.yaml", isRunning: isRunning)
        }
        let service = commands(ServiceUser(id: 7, group: 7))
        #expect(service.contains("sudo systemctl restart starwatch") == isRunning)
        #expect(service.contains("sudo systemctl enable --now starwatch") != isRunning)
        #expect(commands(nil)[0].contains("after you stop") == isRunning)
    }

    /// A purge of the package and another installation give the service's user another number.
    @Test(.enabled(if: geteuid() == 0)) func aKeptKeyIsGivenToTheServicesUser() async throws {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o711) == 0)
        let key = try folder.write("k", to: "master.key", mode: 0o600)
        let storage = SetupStorage(path: folder.path + "/d", encryption: .kept(setting: Self.master))
        let user = ServiceUser(id: 65_534, group: 65_534)
        let setup = SetupKey(storage: storage, folder: folder.path, user: user)
        #expect(try await setup.make().contains { $0.hasPrefix("given") })
        #expect(FileAccess(path: key) == FileAccess(owner: 65_534, mode: 0o100_600))
        #expect(try await setup.make().contains { $0.hasPrefix("given") } == false)
        // systemd hands it to the service, whoever owns it.
        #expect(chown(key, 0, 0) == 0)
        var loaded = setup
        loaded.dropIn = ServiceDropIn(folder: folder.path)
        _ = try folder.write("[Service]\nLoadCredential=master.key:\(key)\n", to: "own.conf")
        #expect(try await loaded.make().contains { $0.hasPrefix("given") } == false)
        #expect(FileAccess(path: key)?.owner == 0)
    }

    /// Its database would be left behind.
    @Test(arguments: [
        ("storage: {path: my.db}\nserver: [\n", "starwatch.yaml:3"),
        ("storage: {path: my.db}\nno_such_setting: 1\n", "starwatch.yaml:2: no_such_setting"),
    ])
    func aFormerConfigurationThatCannotBeReadIsNotReplaced(yaml: String, place: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(yaml, to: "starwatch.yaml")
        var answers = SetupAnswers()
        answers.server = "http://127.0.0.1:1"
        let setup = Setup(answers: answers, folder: folder.path, user: nil, say: { _ in }, progress: { _ in })
        let error = await #expect(throws: CommandError.self) { try await setup.run(isTried: false) }
        let lines = error?.lines ?? []
        #expect(lines.count == 1 && lines[0].contains("\(folder.path)/\(place): "), "\(lines)")
        #expect(lines.first?.contains("correct it, or move it away") == true, "\(lines)")
        #expect(error?.exitCode == .usage)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["starwatch.yaml"])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == yaml)
    }

    // MARK: - The drop-in

    /// systemd would not start the service.
    @Test(arguments: [SetupStorage.Encryption.none, .clear, .file, .kept(setting: "master_key_command: [unwrap]")])
    func aDropInWithoutItsCredentialIsRemoved(encryption: SetupStorage.Encryption) async throws {
        let folder = try TemporaryFolder()
        let storage = SetupStorage(path: folder.path + "/starwatch.db", setting: nil, encryption: encryption)
        var setup = SetupKey(storage: storage, folder: folder.path, user: nil)
        setup.dropIn = ServiceDropIn(folder: folder.path)
        (setup.hasUnit, setup.reload) = (true, { false })
        let credential = SealedCredential(of: folder.path + "/master.key")
        let own = setup.dropIn.text(credential)
        let path = try folder.write(own, to: ServiceDropIn.name)
        let lines = try await setup.make()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(lines.suffix(2).first == "removed  \(path)" && lines.last?.contains("systemctl daemon-reload") == true)
        // Only the one of init, and only without the credential.
        try? FileManager.default.removeItem(atPath: folder.path + "/master.key")
        _ = try folder.write(own + "Environment=A=b\n", to: ServiceDropIn.name)
        _ = try await setup.make()
        #expect(FileManager.default.fileExists(atPath: path))
        try? FileManager.default.removeItem(atPath: folder.path + "/master.key")
        _ = try folder.write(own, to: ServiceDropIn.name)
        _ = try folder.write("sealed", to: "master.key.cred")
        _ = try await setup.make()
        #expect(FileManager.default.fileExists(atPath: path))
    }

    // MARK: - The credential

    /// With the systemd-creds of this machine, whose key only root can use.
    @Test(.enabled(if: geteuid() == 0 && SealedCredential.isSupported))
    func theKeyBecomesACredentialThatOnlyRootAndSystemdOpen() async throws {
        let folder = try TemporaryFolder()
        var storage = try SetupStorage.find(in: folder.path, isPackaged: true, isWanted: true)
        storage.encryption = .credential
        var setup = SetupKey(storage: storage, folder: folder.path, user: nil)
        setup.dropIn = ServiceDropIn(folder: folder.path + "/starwatch.service.d")
        setup.reload = { false }
        let lines = try await setup.make()
        #expect(lines.contains { $0.contains("systemctl daemon-reload") })
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["master.key.cred", "starwatch.service.d"])
        let credential = SealedCredential(of: folder.path + "/master.key")
        let unit = try String(contentsOfFile: folder.path + "/starwatch.service.d/master-key.conf", encoding: .utf8)
        #expect(unit.hasSuffix("[Service]\nLoadCredentialEncrypted=master.key:\(credential.path)\n"))
        let key = try await credential.open()
        let text = try String(contentsOfFile: credential.path, encoding: .utf8)
        #expect(!text.contains(key.base64))
        let advice = try #require(setup.advice)
        #expect(advice.contains("systemd-creds decrypt --name=master.key \(credential.path) -"))
        #expect(!advice.contains(key.base64))
        // Checks accept it, except in a service that does not load it.
        let configuration = folder.path + "/starwatch.yaml"
        _ = try folder.write("security: {master_key_file: master.key}\n", to: "starwatch.yaml")
        let options = try ConfigurationLoader(environment: [:]).load(file: configuration).options
        #expect(try await DatabaseEncryption.key(of: options.security) == key)
        #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader(environment: ["CREDENTIALS_DIRECTORY": "/nowhere"]).load(file: configuration)
        }
        var other = ConfigurationLoader(environment: [:])
        other.user = 65_534
        let failure = #expect(throws: ConfigurationFailure.self) {
            try other.load(text: "security: {master_key_file: master.key}\n", file: "f", directory: folder.path)
        }
        #expect(failure?.problems.first?.message.contains("use sudo for a command") == true)
        // A second init loads it again, and makes no other.
        try FileManager.default.removeItem(atPath: setup.dropIn.path)
        storage.encryption = .kept(setting: Self.master)
        var second = SetupKey(storage: storage, folder: folder.path, user: nil)
        (second.dropIn, second.hasUnit, second.reload) = (setup.dropIn, true, { true })
        #expect(try await second.make() == ["kept     the master key", "written  \(setup.dropIn.path) (mode 0644)"])
        #expect(try await second.make() == ["kept     the master key"])
        #expect(try await credential.open() == key)
        // It is never replaced.
        #expect(throws: CommandError.self) { try KeyFiles.make(folder.path + "/master.key") }
        #expect(
            try SetupStorage.find(in: folder.path, isPackaged: false, isWanted: true).encryption
                == .kept(setting: Self.master)
        )
    }
}
