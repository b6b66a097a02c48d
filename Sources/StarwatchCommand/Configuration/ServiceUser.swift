import Foundation
import Glibc

/// The user that the package's service runs as.
struct ServiceUser: Sendable, Hashable {
    static let folder = "/etc/starwatch"
    /// The only folder, besides that of the socket, that the unit lets the agent write to.
    static let stateFolder = "/var/lib/starwatch"

    var id: Int
    var group: Int

    /// The folder of the unit's drop-ins.
    static let unitFolder = "/etc/systemd/system/starwatch.service.d"

    /// The names of the credentials that drop-ins of the unit load. systemd hands them to the service, whoever owns the files.
    static func credentials(in folder: String = unitFolder) -> Set<String> {
        Set(
            lines(in: folder).compactMap {
                $0.wholeMatch(of: /\s*LoadCredential(?:Encrypted)?\s*=\s*([^:]+):.*/).map { String($0.1) }
            }
        )
    }

    /// Whether a drop-in of the unit gives the service the right to open ports below 1024.
    static func canOpenLowPorts(in folder: String = unitFolder) -> Bool {
        lines(in: folder).contains { $0.firstMatch(of: /^\s*AmbientCapabilities\s*=.*CAP_NET_BIND_SERVICE/) != nil }
    }

    /// The lines of the unit's drop-ins.
    private static func lines(in folder: String) -> [Substring] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let texts = names.compactMap { try? String(contentsOfFile: folder + "/" + $0, encoding: .utf8) }
        return texts.flatMap { $0.split(separator: "\n") }
    }

    /// Whether root looks after the package's installation, whose agent runs as another user.
    static func isNeeded(for configuration: String) -> Bool {
        let path = URL(fileURLWithPath: configuration).standardizedFileURL.path
        return geteuid() == 0 && path.hasPrefix(folder + "/") && find() != nil
    }

    /// The user of that name; `nil` if there is none.
    static func find(_ name: String = "starwatch") -> ServiceUser? {
        guard let entry = getpwnam(name) else { return nil }
        return ServiceUser(id: Int(entry.pointee.pw_uid), group: Int(entry.pointee.pw_gid))
    }
}
