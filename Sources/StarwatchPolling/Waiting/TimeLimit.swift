/// A limit on how long to wait for code that may ignore cancellation, such as a host program's.
package enum TimeLimit {
    /// Runs `body` for at most `limit`.
    ///
    /// A body that takes longer is cancelled, and not waited for.
    ///
    /// - Returns: The answer of `body`, or `late` when the time is up; `nil` when the caller was cancelled.
    package static func run<Answer: Sendable>(
        within limit: Duration,
        on time: any TimeSource,
        late: Answer,
        _ body: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        let answer = Promise<Answer>()
        // Unstructured: a task group would wait for a body that ignores cancellation.
        let work = Task { answer.fulfil(await body()) }
        let timer = Task { if (try? await time.sleep(for: limit)) != nil { answer.fulfil(late) } }
        defer {
            work.cancel()
            timer.cancel()
        }
        return await answer.value()
    }
}
