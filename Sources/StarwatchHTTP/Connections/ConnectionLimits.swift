import Glibc

/// How much of a server its clients may hold, and for how long.
///
/// What a client does in good faith stays far below. The time that an answer takes to make has no limit: a cycle that is
/// run over the control socket takes as long as it takes.
package struct ConnectionLimits: Sendable {
    /// The most connections at once. One more takes the place of the one that has been quiet for longest.
    package var connections = Self.connections(ofFiles: Self.openFiles)
    /// Without a request. Longer than any sensible scrape interval.
    package var idle = Duration.seconds(150)
    /// From a request's first byte to its last.
    package var request = Duration.seconds(30)
    /// Between two pieces of an answer that the client takes.
    package var answer = Duration.seconds(30)

    package init() {}

    /// Three servers at their limit must leave files for everything else: without one, nobody's connection is taken, and
    /// so none makes room.
    static func connections(ofFiles files: Int) -> Int { min(256, max(8, files / 4)) }

    /// How many files the process may have open.
    private static var openFiles: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    var shortest: Duration { min(idle, request, answer) }
}
