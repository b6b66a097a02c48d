import Foundation
import Starwatch
import StarwatchCore

/// The database of a new configuration, and its encryption.
struct SetupStorage: Sendable, Hashable {
    enum Encryption: Sendable, Hashable {
        /// The operator wants none.
        case none
        /// A database that is clear stays clear.
        case clear
        /// The key that is there; the line of its setting.
        case kept(setting: String)
        /// A new key in a file beside the configuration.
        case file
        /// A new key as a credential that only systemd and root can open.
        case credential
    }

    /// The keys, the database and the systemd of this machine.
    struct Facts: Sendable, Hashable {
        var isWanted = true
        var database: DatabaseEncryption.Stored = .absent
        /// The line of the former configuration that names a key.
        var formerSetting: String?
        /// Whether the file, the credential or the program of that line exists.
        var hasFormerKey = true
        /// The id of the key beside the configuration.
        var keyInFile: String?
        var hasCredential = false
        /// Whether systemd runs, can make a credential, and starts the agent.
        var canSeal = false
    }

    static let keyName = "master.key"
    private static let keySetting = "master_key_file: \(keyName)"

    var path: String
    /// The value of `storage.path`; `nil` if it is the default.
    var setting: String?
    var encryption: Encryption

    /// The line of the setting of the key; `nil` for none.
    var keyLine: String? {
        switch encryption {
        case .none, .clear: nil
        case .kept(let setting): setting
        case .file, .credential: Self.keySetting
        }
    }

    /// Decides about the encryption. A key that exists is never replaced.
    ///
    /// - Throws: ``CommandError`` if the new configuration could not open the database.
    static func encryption(_ facts: Facts, database path: String, folder: String) throws(CommandError) -> Encryption {
        let kept = facts.formerSetting.map { Encryption.kept(setting: $0) }
        let beside = facts.hasCredential || facts.keyInFile != nil ? Encryption.kept(setting: keySetting) : nil
        switch facts.database {
        case .clear: return facts.isWanted ? .clear : .none
        case .absent, .empty:
            guard facts.isWanted else { return .none }
            return (facts.hasFormerKey ? kept : nil) ?? beside ?? (facts.canSeal ? .credential : .file)
        case .encrypted(let key):
            guard facts.isWanted else {
                throw .failed("\(path) is encrypted; run 'starwatch keys decrypt-database' before --no-encryption.")
            }
            if let kept { return kept }
            if facts.hasCredential || facts.keyInFile == key { return .kept(setting: keySetting) }
            throw .failed(
                "\(path) is encrypted with the master key \(key); put that key into \(folder)/\(keyName), mode 0600, first."
            )
        }
    }

    /// Looks at the files of a folder.
    ///
    /// Outside the package the data gets a folder of its own, so that a copy of it is none of the key beside the
    /// configuration. A database of an earlier start stays where it is, first of all that of the former configuration.
    static func find(in folder: String, isPackaged: Bool, isWanted: Bool) throws -> SetupStorage {
        let places = isPackaged ? [ServiceUser.stateFolder] : [folder + "/" + dataFolder, folder]
        let databases = places.map { $0 + "/starwatch.db" }
        let new = isWanted ? databases[0] : databases.last!
        let former = try former(in: folder)
        let path = ([former?.storage.path].compactMap { $0 } + databases).first(where: exists) ?? new
        var facts = Facts()
        facts.isWanted = isWanted
        facts.database = try DatabaseEncryption.stored(at: path)
        if let security = former?.security {
            facts.formerSetting = keySetting(of: security, in: folder)
            facts.hasFormerKey = hasKey(security)
        }
        let key = folder + "/" + keyName
        facts.hasCredential = SealedCredential(of: key).exists
        if exists(key) { facts.keyInFile = try MasterKeyFile.read(key).id }
        facts.canSeal = isPackaged && SealedCredential.isSupported && ServiceDropIn.isPossible
        return SetupStorage(
            path: path,
            setting: isPackaged ? path : path == folder + "/starwatch.db" ? nil : name(of: path, in: folder),
            encryption: try encryption(facts, database: path, folder: folder)
        )
    }

    private static let dataFolder = "data"

    /// The folder to make for the database; `nil` if the package has it, or if it is that of the configuration.
    var newFolder: String? {
        setting == "\(Self.dataFolder)/starwatch.db" ? String(path.dropLast("/starwatch.db".count)) : nil
    }

    /// The options of the configuration that is there; `nil` without one.
    ///
    /// - Throws: ``CommandError`` if it has an error: the database and the key that it names would be left behind.
    private static func former(in folder: String) throws(CommandError) -> AgentOptions? {
        let file = folder + "/" + SetupFiles.configurationName
        guard exists(file) else { return nil }
        let loader = ConfigurationLoader(checksSecrets: false)
        do throws(ConfigurationFailure) { return try loader.load(file: file).options } catch {
            let place = error.lines.first ?? file
            throw .usage("The former configuration names the database; correct it, or move it away, first: \(place)")
        }
    }

    /// The line of the setting of a key; `nil` for none.
    private static func keySetting(of security: SecurityOptions, in folder: String) -> String? {
        if let argv = security.masterKeyCommand { return "master_key_command: " + ConfigurationPrinter.list(argv) }
        guard let path = security.masterKeyFile else { return nil }
        // The name alone, because systemd finds a credential by it.
        return "master_key_file: " + ConfigurationPrinter.scalar(name(of: path, in: folder))
    }

    /// Whether the key can still be there.
    private static func hasKey(_ security: SecurityOptions) -> Bool {
        if let program = security.masterKeyCommand?.first { return !program.contains("/") || exists(program) }
        return security.masterKeyFile.map { exists($0) || SealedCredential(of: $0).exists } ?? false
    }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The path as the configuration of a folder writes it.
    private static func name(of path: String, in folder: String) -> String {
        path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
    }
}

/// The drop-in of the unit that loads the master key.
struct ServiceDropIn: Sendable, Hashable {
    var folder = ServiceUser.unitFolder

    static let name = "master-key.conf"
    var path: String { folder + "/" + Self.name }

    /// Whether systemd runs this machine.
    static var isPossible: Bool { FileManager.default.fileExists(atPath: "/run/systemd/system") }

    func text(_ credential: SealedCredential) -> String {
        """
        # Written by 'starwatch init'. systemd decrypts the master key for the agent alone.
        [Service]
        LoadCredentialEncrypted=\(credential.name):\(credential.path)

        """
    }
}
