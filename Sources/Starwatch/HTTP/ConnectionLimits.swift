/// How much of a server its clients may hold, and for how long.
///
/// What a client does in good faith stays far below. The time that an answer takes to make has no limit: a cycle that is
/// run over the control socket takes as long as it takes.
package struct ConnectionLimits: Sendable {
    /// The most connections at once. One more takes the place of the one that has been quiet for longest.
    package var connections = 256
    /// Without a request. Longer than any sensible scrape interval.
    package var idle = Duration.seconds(150)
    /// From a request's first byte to its last.
    package var request = Duration.seconds(30)
    /// Between two pieces of an answer that the client takes.
    package var answer = Duration.seconds(30)

    package init() {}

    var shortest: Duration { min(idle, request, answer) }
}
