/// Sends HTTP requests and returns their responses.
///
/// ``HTTPClient`` is the implementation that uses the network.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and waits for the complete response, whatever its status.
    ///
    /// When the task is cancelled the result is ``HTTPError/cancelled``.
    func exchange(_ request: HTTPRequest) async -> HTTPExchange

    /// The executor on which an answer arrives, so that what follows it needs no change of threads; `nil` for the
    /// runtime's threads. Work on it must neither block nor take long; see ``Offload``.
    var executor: (any TaskExecutor)? { get }

    /// Ends every request in progress, and every later request, as cancelled. Further calls do nothing.
    func shutdown()
}

extension HTTPTransport {
    package var executor: (any TaskExecutor)? { nil }
}
