import Foundation
import Glibc
import Starwatch

/// The files of a configuration as the agent's user sees them. Root can read everything, and the service starts as another user.
struct AgentView {
    let options: AgentOptions
    /// The file of the configuration; `nil` if only what it names is judged.
    var file: String?
    /// The user who is judged; `nil` for the caller.
    let user: ServiceUser?

    init(_ configuration: LoadedConfiguration) { self.init(configuration.options, in: configuration.file) }

    /// - Parameter file: The file of the configuration.
    init(_ options: AgentOptions, in file: String) {
        self.init(options: options, user: AgentUser.other(options, configuration: file))
        self.file = file
    }

    init(options: AgentOptions, user: ServiceUser?) { (self.options, self.user) = (options, user) }

    /// The files that the user cannot read, and the folder of the database that they cannot write to, by their settings.
    ///
    /// The reader of a file tells if the caller cannot read it either.
    var problems: [(path: String, message: String)] {
        guard let user else { return [] }
        var files = options.secretSettings
        // An agent that root starts reads these two before it becomes the user.
        let startsAsUser = file.map { ServiceUser.isNeeded(for: $0) } ?? true
        if startsAsUser, let file { files.append(("", file)) }
        let handed = ServiceUser.credentials()
        // systemd hands a credential to the service itself.
        if startsAsUser, let key = options.security.masterKeyFile, !SealedCredential(of: key).replacesFile {
            files.append(("security.master_key_file", key))
        }
        let unreadable = files.filter { _, file in
            FileManager.default.fileExists(atPath: file) && !AgentUser.can(R_OK, file, as: user)
                && !handed.contains(String(file.split(separator: "/").last ?? ""))
        }
        let folder = URL(fileURLWithPath: options.storage.path).deletingLastPathComponent().path
        let hasFolder = FileManager.default.fileExists(atPath: folder)
        let storage = hasFolder ? AgentUser.writeProblem(options.storage.path, as: user) : nil
        return unreadable.map {
            ($0.setting, "\($0.file) cannot be read by the agent's user; run 'chown \(user.id)' on it.")
        }
            + [storage].compactMap(\.self).map { ("storage.path", $0) } + (startsAsUser ? ports : [])
    }

    /// The ports that root can open, and the agent's user cannot.
    private var ports: [(path: String, message: String)] {
        guard !ServiceUser.canOpenLowPorts() else { return [] }
        let listeners = [("http.listen", options.http.listen), ("control.listen", options.control.listen)]
        return listeners.compactMap { path, listen in
            listen.flatMap { Self.portProblem($0, freeFrom: Self.firstFreePort) }.map { (path, $0) }
        }
    }

    /// Returns why a user without rights cannot listen at an address; `nil` if they can.
    ///
    /// - Parameter first: The first port that every user can open.
    static func portProblem(_ listen: String, freeFrom first: Int) -> String? {
        guard let address = ListenAddress(parsing: listen), (1..<first).contains(Int(address.port)) else {
            return nil
        }
        return "the agent's user cannot open port \(address.port); choose a port from \(first) on."
    }

    private static var firstFreePort: Int {
        let text = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding: .utf8)
        return text.flatMap { Int($0.filter(\.isNumber)) } ?? 1024
    }

    /// Says that the checks are those of another user than the service's; `nil` if they are not.
    static func note(on configuration: String) -> String? {
        let path = URL(fileURLWithPath: configuration).standardizedFileURL.path
        guard path.hasPrefix(ServiceUser.folder + "/"), let service = ServiceUser.find(), geteuid() != 0,
            Int(geteuid()) != service.id
        else { return nil }
        return "Files were judged as this user; with sudo they are judged as the service's user."
    }
}

extension LoadedConfiguration {
    /// Checks that an agent could run, and that its own user can read the files.
    ///
    /// - Throws: ``ConfigurationFailure`` with the line of each setting.
    func checkForAgent() async throws(ConfigurationFailure) {
        var problems: [ConfigurationProblem] = []
        do throws(ConfigurationFailure) { try await check() } catch { problems = error.problems }
        problems += AgentView(self).problems.map { path, message in
            ConfigurationProblem(line: origins[path], path: path, message: message)
        }
        if !problems.isEmpty { throw ConfigurationFailure(file: file, problems: problems, partial: self) }
    }
}
