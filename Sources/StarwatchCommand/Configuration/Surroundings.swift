import Foundation
import Glibc
import Starwatch
import StarwatchCore
import StarwatchHTTP

/// The checks of what a valid configuration names on this machine: programs, folders, addresses and ports.
///
/// `check` and `init` make all of them. A reload, `run` and the commands that run programs only refuse the ``distrusted``
/// ones. They accept a program that is missing at the moment.
struct Surroundings {
    let configuration: LoadedConfiguration
    /// The running user.
    var user: UInt32 = geteuid()
    var searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    /// Whether an agent runs with this configuration, which has its own ports open.
    var isRunning: Bool

    init(_ configuration: LoadedConfiguration) {
        self.configuration = configuration
        isRunning = ControlSocket.hasListener(at: configuration.options.control.socket)
    }

    var problems: [ConfigurationProblem] {
        configuration.located(programs.compactMap { path, argv in program(argv).map { (path, $0) } } + folders + ports)
    }

    /// The programs that other users can change. The agent starts with none of them.
    var distrusted: [ConfigurationProblem] {
        configuration.located(programs.compactMap { path, argv in file(of: argv).flatMap(distrust).map { (path, $0) } })
    }

    // MARK: Programs

    private var programs: [(path: String, argv: [String])] {
        let options = configuration.options
        var programs: [(path: String, argv: [String])] = []
        if options.auth.kind == .command, let argv = options.auth.argv { programs.append(("auth.argv", argv)) }
        if let argv = options.security.masterKeyCommand { programs.append(("security.master_key_command", argv)) }
        for (index, sink) in options.delivery.sinks.enumerated() {
            programs += sink.values(of: .program).map { (path: "delivery.sinks[\(index)].\($0)", argv: $1.list ?? []) }
        }
        return programs
    }

    private func file(of argv: [String]) -> String? {
        guard let name = argv.first else { return nil }
        let folders = name.contains("/") ? [""] : searchPath.split(separator: ":").map { $0 + "/" }
        return folders.map { $0 + name }.first(where: Self.isFile)
    }

    /// Returns why the agent cannot run, or should not trust, a program. The arguments can be secret.
    private func program(_ argv: [String]) -> String? {
        guard let name = argv.first else { return nil }
        guard let file = file(of: argv) else {
            return argv.count == 1 && name.contains(" ")
                ? "names no program; write the program and each argument as an item of its own."
                : "there is no program \(name); install it, or correct the path."
        }
        guard FileManager.default.isExecutableFile(atPath: file) else {
            return "\(file) is not executable; run chmod +x on it."
        }
        return distrust(file)
    }

    /// Returns how another user can change what a program does; `nil` if only root and the agent's user can.
    private func distrust(_ file: String) -> String? {
        // Root looks after the agent of another user, which owns the folder of the database.
        let agent = user == 0 ? FileAccess(folderOf: configuration.options.storage.path)?.owner : nil
        guard let problem = FileTrust(users: [user] + [agent].compactMap { $0 }).problem(of: file) else { return nil }
        return "\(file) " + problem.sentence(takeOver: "run 'chown' on \(problem.path)")
    }

    private static func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    // MARK: Folders

    /// The sinks whose file has no folder.
    private var folders: [(path: String, message: String)] {
        configuration.options.delivery.sinks.enumerated().flatMap { index, sink in
            sink.values(of: .output).filter { !Reach.hasFolder($0.value.text ?? "") }.map {
                (
                    "delivery.sinks[\(index)].\($0.key)",
                    "is in a folder that does not exist; create it for the agent's user."
                )
            }
        }
    }

    // MARK: Ports

    private var ports: [(path: String, message: String)] {
        guard !isRunning else { return [] }
        let options = configuration.options
        let listeners = [("http.listen", options.http.listen), ("control.listen", options.control.listen)]
        return listeners.compactMap { path, text in text.flatMap(Self.listen).map { (path, $0) } }
    }

    /// Returns why no server can listen at an address; `nil` if one can. The port is free again at once.
    static func listen(_ text: String) -> String? {
        guard let address = ListenAddress(parsing: text) else { return nil }
        var hints = addrinfo()
        (hints.ai_socktype, hints.ai_flags) = (Int32(SOCK_STREAM.rawValue), AI_PASSIVE)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &list) == 0, let first = list else {
            return "there is no host of that name; write an address of this machine, such as 127.0.0.1:9464."
        }
        defer { freeaddrinfo(list) }
        let listener = socket(first.pointee.ai_family, first.pointee.ai_socktype, first.pointee.ai_protocol)
        guard listener >= 0 else { return nil }
        defer { close(listener) }
        var isReused: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        guard bind(listener, first.pointee.ai_addr, first.pointee.ai_addrlen) != 0 || Glibc.listen(listener, 1) != 0
        else { return nil }
        switch errno {
        case EADDRINUSE: return "another program listens on port \(address.port); choose another port, or stop it."
        case EADDRNOTAVAIL: return "this machine does not have that address; see 'ip address'."
        case EACCES: return "needs root for port \(address.port); choose a port from 1024 on."
        default: return nil
        }
    }
}
