import Glibc

/// The inbox of the driver's thread: requests, cancellations, jobs of tasks, and the order to stop.
///
/// `@unchecked Sendable` because `lock` guards every property that changes. Nothing blocks while it is held.
final class CurlInbox: @unchecked Sendable {
    /// The contents that came since the last look.
    struct Batch {
        fileprivate(set) var submitted: [CurlTransfer] = []
        fileprivate(set) var cancelled: [UInt64] = []
        fileprivate(set) var jobs: [UnownedJob] = []
        /// Whether the thread must end.
        fileprivate(set) var isLast = false

        fileprivate var isEmpty: Bool { !hasRequests && jobs.isEmpty && !isLast }

        /// Whether requests were made or cancelled.
        var hasRequests: Bool { !submitted.isEmpty || !cancelled.isEmpty }

        mutating func clear() {
            if !submitted.isEmpty { submitted.removeAll(keepingCapacity: true) }
            if !cancelled.isEmpty { cancelled.removeAll(keepingCapacity: true) }
            if !jobs.isEmpty { jobs.removeAll(keepingCapacity: true) }
        }
    }

    private let lock = PthreadLock()
    /// Ends the thread's wait. Called under `lock` and before the thread ends, so the descriptor exists.
    private let wake: () -> Void
    @exclusivity(unchecked) private var lastID: UInt64 = 0
    /// Identifiers of calls that are not submitted yet. A cancellation before submission removes the identifier.
    @exclusivity(unchecked) private var reserved: Set<UInt64> = []
    @exclusivity(unchecked) private var next = Batch()
    /// Whether the thread waits and was not woken yet. Waking costs a system call, so it is done once, and not while
    /// the thread works: it looks again before it waits.
    @exclusivity(unchecked) private var isAsleep = false
    @exclusivity(unchecked) private var isStopping = false
    private var thread: pthread_t?

    init(wake: @escaping () -> Void) { self.wake = wake }

    /// Notes the thread to join at the end.
    func own(_ thread: pthread_t) { lock.withLock { self.thread = thread } }

    // MARK: - Any thread

    func reserve() -> UInt64 {
        lock.withLock {
            lastID += 1
            reserved.insert(lastID)
            return lastID
        }
    }

    /// - Returns: `false` if the transfer is cancelled or malformed, or the thread ends.
    func submit(_ transfer: CurlTransfer, isWellFormed: Bool) -> Bool {
        lock.withLock {
            guard reserved.remove(transfer.id) != nil, !isStopping, isWellFormed else { return false }
            next.submitted.append(transfer)
            rouse()
            return true
        }
    }

    func cancel(_ id: UInt64) {
        lock.withLock {
            guard reserved.remove(id) == nil, !isStopping else { return }
            next.cancelled.append(id)
            rouse()
        }
    }

    /// - Returns: `false` if the thread ends.
    func add(_ job: UnownedJob) -> Bool {
        lock.withLock {
            guard !isStopping else { return false }
            next.jobs.append(job)
            rouse()
            return true
        }
    }

    /// Tells the thread to end.
    ///
    /// - Returns: The thread; `nil` if it was told before.
    func stop() -> pthread_t? {
        lock.withLock {
            defer { thread = nil }
            if !isStopping {
                next.isLast = true
                rouse()
                isStopping = true
            }
            return thread
        }
    }

    private func rouse() {
        guard isAsleep, !isStopping else { return }
        isAsleep = false
        wake()
    }

    // MARK: - Driver thread

    /// Replaces `batch` by what came since the last call.
    ///
    /// - Returns: `false` if nothing came.
    func take(into batch: inout Batch) -> Bool {
        batch.clear()
        return lock.withLock {
            guard !next.isEmpty else { return false }
            swap(&batch, &next)
            return true
        }
    }

    /// Whether a transfer that was taken is to end. libcurl can keep the thread from taking that.
    func hasEnded(_ id: UInt64) -> Bool { lock.withLock { isStopping || next.cancelled.contains(id) } }

    /// Notes that the thread is about to wait; `false` if it must look again.
    func fallAsleep() -> Bool {
        lock.withLock {
            isAsleep = next.isEmpty
            return isAsleep
        }
    }

    func wakeUp() { lock.withLock { isAsleep = false } }
}

/// A mutex. ThreadSanitizer reports false races for `Synchronization.Mutex`.
final class PthreadLock {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
