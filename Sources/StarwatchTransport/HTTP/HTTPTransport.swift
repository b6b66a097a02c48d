/// The way out: what sends a request and brings its answer.
///
/// ``HTTPClient`` is the one that reaches a network.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and waits for the end of the answer, of whatever status.
    ///
    /// When the task is cancelled the result is ``HTTPError/cancelled``.
    func exchange(_ request: HTTPRequest) async -> HTTPExchange

    /// Ends every request under way as cancelled, and those made afterwards. May be called again.
    func shutdown()
}
