extension TimeSource {
    /// Runs `body` for at most `limit`. It can ignore cancellation, such as that of a host program.
    ///
    /// A body that takes longer is cancelled, and its end is not awaited.
    ///
    /// - Returns: The answer of `body`, or `late` when the time is up; `nil` when the caller was cancelled.
    package func run<Answer: Sendable>(
        within limit: Duration,
        late: Answer,
        _ body: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        let answer = Promise<Answer>()
        // Unstructured: a task group would wait for a body that ignores cancellation.
        let work = Task { answer.fulfil(await body()) }
        let timer = Task { if (try? await sleep(for: limit)) != nil { answer.fulfil(late) } }
        defer {
            work.cancel()
            timer.cancel()
        }
        return await answer.value()
    }
}
