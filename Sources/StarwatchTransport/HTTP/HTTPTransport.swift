/// Sends HTTP requests and returns their responses.
///
/// ``HTTPClient`` is the implementation that uses the network.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and waits for the complete response, whatever its status.
    ///
    /// When the task is cancelled the result is ``HTTPError/cancelled``.
    func exchange(_ request: HTTPRequest) async -> HTTPExchange

    /// Ends every request in progress, and every later request, as cancelled. Further calls do nothing.
    func shutdown()
}
