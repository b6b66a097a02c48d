import Glibc

/// Limits of a server's connections.
///
/// Well-behaved clients stay far below them. The server's own work on an answer has no limit, because a poll cycle that
/// the control API runs takes as long as it takes.
struct ConnectionLimits: Sendable {
    /// The maximum number of connections. Another one replaces the quietest.
    var connections = Self.connections(ofFiles: Self.openFiles)
    /// The time limit without a request. Longer than any sensible scrape interval.
    var idle = Duration.seconds(150)
    /// The time limit from a request's first byte to its last, and of a TLS handshake.
    var request = Duration.seconds(30)
    /// The time limit for a client to take a piece of an answer.
    var answer = Duration.seconds(30)
    /// The pause before a request that a client sent before it had the previous answer.
    var turn = Duration.milliseconds(1)

    /// The number of connections for a limit on open files. Three full servers must leave files for everything else,
    /// because without a free file no connection is accepted and none makes room.
    static func connections(ofFiles files: Int) -> Int { min(256, max(8, files / 4)) }

    /// The process's limit on open files.
    private static var openFiles: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    var shortest: Duration { min(idle, request, answer) }
}
