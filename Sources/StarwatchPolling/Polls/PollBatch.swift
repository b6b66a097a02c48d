import Synchronization

/// Combines single items into requests of several.
///
/// The first item waits briefly for others, and all go in one batch.
public final class PollBatch<Item: Sendable, Output: Sendable>: Sendable {
    private typealias Entry = (item: Item, answer: Promise<Result<Output, any Error>>)
    /// The number rises with every closed batch, so the timer of one does not close the next.
    private typealias State = (batch: UInt64, open: [Entry])

    /// The effect of a new item on its batch.
    private enum Next {
        case join
        case begin(batch: UInt64)
        case send([Entry])
    }

    /// The maximum wait: less than 100 ms.
    public static var longestWait: Duration { .milliseconds(99) }
    /// The maximum number of items in one batch.
    public static var largest: Int { 10 }

    private let wait: Duration
    private let limit: Int
    private let time: any TimeSource
    private let onAdd: @Sendable (Int) -> Void
    private let perform: @Sendable ([Item]) async throws -> [Output]
    private let state = Mutex<State>((0, []))

    /// - Parameters:
    ///   - wait: The time that the first item waits for others, at most ``longestWait``. By default 50 ms.
    ///   - limit: The number of items in one batch, at most ``largest``, which is the default.
    ///   - perform: Returns the answers in the order of the items. If it throws, every item gets the error.
    public convenience init(
        wait: Duration = .milliseconds(50),
        limit: Int = 10,
        perform: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        self.init(wait: wait, limit: limit, time: SystemClock(), perform: perform)
    }

    /// - Parameter onAdd: Called when an item starts to wait, with the number that wait.
    init(
        wait: Duration,
        limit: Int,
        time: any TimeSource,
        onAdd: @escaping @Sendable (Int) -> Void = { _ in },
        perform: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        self.wait = min(max(wait, .zero), Self.longestWait)
        self.limit = min(max(limit, 1), Self.largest)
        (self.time, self.onAdd, self.perform) = (time, onAdd, perform)
    }

    /// Returns the answer to `item`, from whichever batch it joins.
    ///
    /// Cancelling the task removes an item from a waiting batch, or abandons its answer. The other items are not
    /// affected.
    ///
    /// - Throws: The batch's error, or `CancellationError`.
    public func submit(_ item: Item) async throws -> Output {
        try Task.checkCancellation()
        let entry: Entry = (item, Promise())
        add(entry)
        guard let result = await entry.answer.value() else {
            state.withLock { $0.open.removeAll { $0.answer === entry.answer } }
            throw CancellationError()
        }
        return try result.get()
    }

    private func add(_ entry: Entry) {
        let (next, count): (Next, Int) = state.withLock { state in
            state.open.append(entry)
            let count = state.open.count
            if count >= limit { return (.send(close(&state)), count) }
            return (count == 1 ? .begin(batch: state.batch) : .join, count)
        }
        onAdd(count)
        // Unstructured: a batch belongs to all tasks with an item in it.
        switch next {
        case .join: break
        case .begin(let batch):
            Task {
                try? await time.sleep(for: wait)
                let entries = state.withLock { $0.batch == batch ? close(&$0) : [] }
                await send(entries)
            }
        case .send(let entries): Task { await send(entries) }
        }
    }

    private func close(_ state: inout State) -> [Entry] {
        defer { state.open = [] }
        state.batch += 1
        return state.open
    }

    private func send(_ entries: [Entry]) async {
        guard !entries.isEmpty else { return }
        let result: Result<[Output], any Error>
        do {
            let outputs = try await perform(entries.map(\.item))
            guard outputs.count == entries.count else {
                throw PollError(.execution, "The batch was not answered item by item.", isRetryable: false)
            }
            result = .success(outputs)
        } catch {
            result = .failure(error)
        }
        for (index, entry) in entries.enumerated() { entry.answer.fulfil(result.map { $0[index] }) }
    }
}
