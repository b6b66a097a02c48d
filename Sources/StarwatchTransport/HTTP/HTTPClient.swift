/// Sends HTTP requests through libcurl: one multi handle on a thread of its own, connections kept and shared.
///
/// Redirects are not followed, proxies of the environment are not used, and nothing but HTTP is spoken. Safe to use
/// from any number of tasks.
package final class HTTPClient: HTTPTransport {
    private let driver: CurlDriver

    /// Starts the client's thread.
    ///
    /// - Parameters:
    ///   - options: Trust, pinning and the number of requests at once.
    ///   - clock: Reads both clocks; called on the client's thread and on the caller's.
    /// - Throws: ``HTTPError/configuration(_:)`` when a certificate file cannot be used or no thread is to be had.
    package init(
        options: HTTPClientOptions = HTTPClientOptions(),
        clock: @escaping @Sendable () -> ClockReading
    ) throws(HTTPError) {
        driver = try CurlDriver(options: options, clock: clock)
    }

    deinit { driver.shutdown() }

    /// Sends `request` and waits for the end of the answer, of whatever status.
    ///
    /// Cancelling the task closes the connection at once; the result is then ``HTTPError/cancelled``.
    package func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        let id = driver.reserve()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { driver.submit(request, id: id, continuation: $0) }
        } onCancel: {
            driver.cancel(id)
        }
    }

    /// Ends every request under way as cancelled, closes the connections and waits for the thread to end.
    ///
    /// Blocks for the time of one loop, well under a millisecond. Requests made afterwards end as cancelled. May be
    /// called again.
    package func shutdown() {
        driver.shutdown()
    }
}
