import Synchronization

/// Puts what is asked for one by one into requests of several.
///
/// The first item waits for others for a moment; what comes meanwhile goes with it (R-POLL-33, C-240).
public final class PollBatch<Item: Sendable, Output: Sendable>: Sendable {
    private struct Entry {
        let id: UInt64
        let item: Item
        let continuation: CheckedContinuation<Output, any Error>
    }

    private struct State {
        var lastID: UInt64 = 0
        /// Rises with every batch that is closed, so that the timer of one does not close the next.
        var batch: UInt64 = 0
        var open: [Entry] = []
        var sent: [UInt64: CheckedContinuation<Output, any Error>] = [:]
        var gone: Set<UInt64> = []
    }

    /// What an item that comes makes of its batch.
    private enum Next {
        case gone, join
        case begin(batch: UInt64)
        case send([Entry])
    }

    /// The longest wait: less than 100 ms.
    public static var longestWait: Duration { .milliseconds(99) }
    /// The most items of one request.
    public static var largest: Int { 10 }

    private let wait: Duration
    private let limit: Int
    private let time: any TimeSource
    private let onAdd: @Sendable (Int) -> Void
    private let perform: @Sendable ([Item]) async throws -> [Output]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - wait: How long the first item waits for others, at most ``longestWait``. By default 50 ms.
    ///   - limit: How many items go at once, at most ``largest``, which is the default.
    ///   - perform: Answers the items in their order. What it throws, each of them gets.
    public convenience init(
        wait: Duration = .milliseconds(50),
        limit: Int = 10,
        perform: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        self.init(wait: wait, limit: limit, time: SystemClock(), perform: perform)
    }

    /// - Parameter onAdd: Called when an item waits to go, with how many do.
    init(
        wait: Duration,
        limit: Int,
        time: any TimeSource,
        onAdd: @escaping @Sendable (Int) -> Void = { _ in },
        perform: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        self.wait = min(max(wait, .zero), Self.longestWait)
        self.limit = min(max(limit, 1), Self.largest)
        self.time = time
        self.onAdd = onAdd
        self.perform = perform
    }

    /// The answer to `item`, in whatever batch it goes.
    ///
    /// Cancelling the task takes an item out of a batch that has not gone yet, and gives up its answer otherwise; the
    /// other items are not disturbed.
    ///
    /// - Throws: What the batch failed with, or `CancellationError`.
    public func submit(_ item: Item) async throws -> Output {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // A cancellation that comes with the answer finds nobody waiting.
        defer { state.withLock { _ = $0.gone.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add(Entry(id: id, item: item, continuation: $0)) }
        } onCancel: {
            remove(id)
        }
    }

    private func add(_ entry: Entry) {
        let (next, count): (Next, Int) = state.withLock { state in
            if state.gone.remove(entry.id) != nil { return (.gone, 0) }
            state.open.append(entry)
            let count = state.open.count
            if count >= limit { return (.send(close(&state)), count) }
            return (count == 1 ? .begin(batch: state.batch) : .join, count)
        }
        onAdd(count)
        // Tasks of the batch's own: it belongs to all who have something in it.
        switch next {
        case .gone: entry.continuation.resume(throwing: CancellationError())
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
        for entry in state.open { state.sent[entry.id] = entry.continuation }
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
        for (index, entry) in entries.enumerated() {
            let continuation = state.withLock { $0.sent.removeValue(forKey: entry.id) }
            continuation?.resume(with: result.map { $0[index] })
        }
    }

    private func remove(_ id: UInt64) {
        let continuation = state.withLock { state -> CheckedContinuation<Output, any Error>? in
            if let sent = state.sent.removeValue(forKey: id) { return sent }
            if let index = state.open.firstIndex(where: { $0.id == id }) {
                return state.open.remove(at: index).continuation
            }
            state.gone.insert(id)
            return nil
        }
        continuation?.resume(throwing: CancellationError())
    }
}
