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
