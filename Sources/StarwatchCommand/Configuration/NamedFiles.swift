import Starwatch
import StarwatchCore

/// The files of a configuration, each of which has one purpose. What the agent writes must not replace another of them.
struct NamedFiles {
    /// The purpose by path.
    private var purposes: [String: String] = [:]
    /// The settings that name a file of another purpose.
    private(set) var conflicts: [(setting: String, message: String)] = []

    /// - Parameter reserved: The configuration's own file, and others that stand beside it.
    init(_ options: AgentOptions, reserved: [String]) {
        for file in reserved { purposes[file] = "the file of the configuration or of a secret" }
        for file in options.secretFiles + [options.security.masterKeyFile].compactMap(\.self) {
            purposes[file] = "the file of a secret"
        }
        let database = options.storage.path
        take(database, by: "storage.path", for: "the file of the database")
        for file in ["-wal", "-shm", ".lock"].map({ database + $0 }) + [BlackBox.path(besides: database)] {
            purposes[file] = "a file of the database"
        }
        take(options.control.socket, by: "control.socket", for: "the control socket")
        for (index, sink) in options.delivery.sinks.enumerated() {
            guard case .file(let path) = sink.kind else { continue }
            take(path, by: "delivery.sinks[\(index)].path", for: "the file of another sink")
        }
    }

    private mutating func take(_ path: String, by setting: String, for purpose: String) {
        if let other = purposes[path] {
            conflicts.append((setting, "is \(other); choose another path."))
        } else {
            purposes[path] = purpose
        }
    }
}

extension AgentOptions {
    /// The files of secrets that the configuration names.
    var secretFiles: [String] {
        let sinks = delivery.sinks.flatMap { sink -> [String?] in
            switch sink.kind {
            case .webhook(_, let secret, _): [secret]
            case .ntfy(_, _, let token): [token]
            case .email(let mail): [mail.passwordFile]
            case .chat(let chat):
                if case .file(let path) = chat.address { [path, chat.tokenFile] } else { [chat.tokenFile] }
            case .stdout, .log, .feed, .file, .command: []
            }
        }
        return ([auth.secretFile, auth.keyFile, auth.tokensFile, control.tokenFile] + sinks).compactMap(\.self)
    }
}
