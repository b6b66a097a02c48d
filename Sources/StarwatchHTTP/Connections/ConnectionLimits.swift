import Glibc

/// Limits of a server's connections and their waits.
///
/// A normal client stays far below them. The creation of an answer has no time limit, because a cycle over the control
/// socket takes as long as it takes.
package struct ConnectionLimits: Sendable {
    /// The maximum number of connections. A new one beyond it replaces the one that has been quiet for longest.
    package var connections = Self.connections(ofFiles: Self.openFiles)
    /// The maximum time without a request. It exceeds any sensible scrape interval.
    package var idle = Duration.seconds(150)
    /// The maximum time from a request's first byte to its last.
    package var request = Duration.seconds(30)
    /// The maximum time between two pieces of an answer that the client takes.
    package var answer = Duration.seconds(30)

    package init() {}

    /// Three servers at their limits must leave files for everything else. Without a free file, the process accepts no
    /// connection, so none could make room.
    static func connections(ofFiles files: Int) -> Int { min(256, max(8, files / 4)) }

    /// The maximum number of open files of the process.
    private static var openFiles: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    var shortest: Duration { min(idle, request, answer) }
}
