import Glibc

/// The files that this process may have open, connections among them.
package enum OpenFiles {
    /// The soft limit; 1,024 if the system does not tell.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }
}
