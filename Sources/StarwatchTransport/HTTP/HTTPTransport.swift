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

/// Work that blocks or takes long, away from the executor of an ``HTTPTransport``.
package enum Offload {
    /// The size of an answer, in bytes, from which decoding it is long work: a fraction of a millisecond.
    package static let longAnswer = 64 << 10

    /// The executor of a simulation; `nil` for the runtime's threads.
    @TaskLocal package static var replacement: (any TaskExecutor)?

    package static var executor: any TaskExecutor { replacement ?? globalConcurrentExecutor }

    /// Runs `work` on the runtime's threads, and returns to the caller's executor.
    ///
    /// - Parameter work: `@concurrent`, because other functions stay on the caller's executor.
    package static func run<Value: Sendable, Failure: Error>(
        _ work: @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(executor, operation: work)
    }
}
