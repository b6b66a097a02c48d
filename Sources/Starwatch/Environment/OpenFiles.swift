import Glibc

/// The files that this process may have open, connections among them.
package enum OpenFiles {
    /// The soft limit; 1,024 if the system does not tell.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number that an agent needs at least: its database, its ports, its clients and their connections.
    package static let least = 64

    /// Raises the soft limit, as far as the hard one allows. Most systems start programs with 1,024, whatever they need.
    package static func raise(to wanted: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(wanted)
        else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
