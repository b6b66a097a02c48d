import StarwatchCore

/// What may take longer than somebody wants to wait: code of the host program, or a poll that runs for others too.
enum HostCall {
    /// Runs `body` for a limited time.
    ///
    /// Not in a task group: that would wait for code that does not heed cancellation. It is cancelled, and not waited
    /// for.
    ///
    /// - Returns: What `body` answers, or `late` when the time is over; `nil` when the caller was cancelled.
    static func run<Answer: Sendable>(
        within limit: Duration,
        on time: any TimeSource,
        late: Answer,
        _ body: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        let work = Task { answer.yield(await body()) }
        let timer = Task { if (try? await time.sleep(for: limit)) != nil { answer.yield(late) } }
        defer {
            work.cancel()
            timer.cancel()
        }
        for await result in answers { return result }
        return nil
    }
}
