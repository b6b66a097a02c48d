import Foundation
import Starwatch
import StarwatchCore

/// The making of the master key of a new configuration.
struct SetupKey {
    let storage: SetupStorage
    let folder: String
    /// The agent's user, if it is another one.
    let user: ServiceUser?
    var dropIn = ServiceDropIn()
    /// Whether systemd runs the agent.
    var hasUnit: Bool
    /// Makes systemd read its units again; returns whether it did.
    var reload: () -> Bool = SetupKey.reloadSystemd

    init(storage: SetupStorage, folder: String, user: ServiceUser?) {
        (self.storage, self.folder, self.user) = (storage, folder, user)
        hasUnit = user != nil && ServiceDropIn.isPossible
    }

    private var file: String { folder + "/" + SetupStorage.keyName }

    /// Makes the key and the folder of the data. What exists stays.
    ///
    /// - Returns: One line per file.
    func make() async throws -> [String] {
        var lines: [String] = []
        if let folder = storage.newFolder { try makeFolder(folder) }
        switch storage.encryption {
        case .none, .clear: break
        case .kept(let setting):
            lines.append("kept     the master key")
            if setting.hasSuffix(" \(SetupStorage.keyName)"), try handOver() {
                lines.append("given    the master key to the agent's user")
            }
            // An earlier init can have been interrupted.
            let isLoaded = FileManager.default.fileExists(atPath: dropIn.path)
            if hasUnit, SealedCredential(of: file).replacesFile, !isLoaded { lines += try writeDropIn() }
        case .file: lines.append(try makeFile())
        case .credential: lines += try await makeCredential()
        }
        return lines + (try removeStaleDropIn())
    }

    private func makeFolder(_ path: String) throws(CommandError) {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch { throw .failed("\(path) cannot be made; check the folder's owner and free space.") }
    }

    private func makeFile() throws -> String {
        guard try MasterKeyFile.create(file) != nil else {
            throw CommandError.failed("\(file) exists already, and a key is never replaced; run this again.")
        }
        if let user, chown(file, uid_t(user.id), gid_t(user.group)) != 0 {
            throw CommandError.failed("\(file) cannot be given to the agent's user; run chown on it.")
        }
        return "written  \(file) (mode 0600)"
    }

    /// Gives a key of an earlier installation to the agent's user, who has another number since.
    ///
    /// - Returns: Whether the file belonged to another user.
    private func handOver() throws(CommandError) -> Bool {
        guard let user, let access = FileAccess(path: file), Int(access.owner) != user.id,
            !ServiceUser.credentials(in: dropIn.folder).contains(SetupStorage.keyName)
        else { return false }
        // A link must not give away another file.
        let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        defer { close(descriptor) }
        guard fchown(descriptor, uid_t(user.id), gid_t(user.group)) == 0, fchmod(descriptor, 0o600) == 0 else {
            throw .failed("\(file) cannot be given to the agent's user; run chown on it.")
        }
        return true
    }

    private func makeCredential() async throws -> [String] {
        let credential = SealedCredential(of: file)
        guard await credential.make(DatabaseKey()) else {
            let note = "note     systemd-creds failed; the master key is stored in a clear file instead."
            return [note, try makeFile()]
        }
        return ["written  \(credential.path) (mode 0600)"] + (try writeDropIn())
    }

    private func writeDropIn() throws(CommandError) -> [String] {
        do {
            try FileManager.default.createDirectory(
                atPath: dropIn.folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
            try dropIn.text(SealedCredential(of: file)).write(toFile: dropIn.path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: dropIn.path)
        } catch {
            throw .failed("\(dropIn.path) cannot be written; check the folder's owner and free space.")
        }
        return ["written  \(dropIn.path) (mode 0644)"] + reloadNote()
    }

    /// Removes the drop-in of an earlier init whose credential is gone: systemd would not start the service.
    private func removeStaleDropIn() throws(CommandError) -> [String] {
        let credential = SealedCredential(of: file)
        guard hasUnit, !credential.exists,
            FileManager.default.contents(atPath: dropIn.path) == Data(dropIn.text(credential).utf8)
        else { return [] }
        do { try FileManager.default.removeItem(atPath: dropIn.path) } catch {
            throw .failed("\(dropIn.path) cannot be removed; check the folder's owner.")
        }
        return ["removed  \(dropIn.path)"] + reloadNote()
    }

    private func reloadNote() -> [String] {
        reload() ? [] : ["note     run 'systemctl daemon-reload' before the agent starts"]
    }

    private static func reloadSystemd() -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/systemctl")
        process.arguments = ["daemon-reload"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Says how to keep a copy of the key, or how to encrypt a database that is clear.
    var advice: String? {
        let credential = SealedCredential(of: file)
        switch storage.encryption {
        case .none: return nil
        case .kept(let setting): return copyAdvice(setting.hasSuffix(SetupStorage.keyName) ? credential : nil)
        case .file, .credential: return copyAdvice(credential)
        case .clear:
            let sudo = user == nil ? "" : "sudo "
            let configuration = folder + "/" + SetupFiles.configurationName
            var commands = ["\(sudo)starwatch keys init --file \(file)"]
            if user != nil {
                commands.insert("sudo systemctl stop starwatch", at: 0)
                commands.append("sudo chown starwatch: \(file)")
            }
            commands += [
                "echo 'security: {master_key_file: \(SetupStorage.keyName)}' | \(sudo)tee -a \(configuration)",
                "\(sudo)starwatch keys encrypt-database --config \(configuration)",
            ]
            return "\(storage.path) is not encrypted, and stays so. To encrypt it, stop the agent and run:\n"
                + commands.map { "  " + $0 }.joined(separator: "\n")
        }
    }

    private func copyAdvice(_ credential: SealedCredential?) -> String {
        let begin = "The database is encrypted. "
        guard let credential, credential.replacesFile || FileManager.default.fileExists(atPath: file) else {
            return begin + KeyFiles.copyAdvice("its master key")
        }
        guard credential.replacesFile else { return begin + KeyFiles.copyAdvice(file) }
        let command = credential.command.joined(separator: " ")
        return begin + KeyFiles.copyAdvice("the key") + " This prints it:\n  sudo \(command)"
    }
}
