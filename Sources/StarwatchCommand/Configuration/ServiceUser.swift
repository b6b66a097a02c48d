import Foundation
import Glibc

/// The user that the package's service runs as.
struct ServiceUser: Sendable, Hashable {
    static let folder = "/etc/starwatch"
    /// The only folder, besides that of the socket, that the unit lets the agent write to.
    static let stateFolder = "/var/lib/starwatch"

    var id: Int
    var group: Int

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
