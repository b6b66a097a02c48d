import CCurl
import Glibc
import StarwatchCore

/// The thread that runs libcurl, and the tasks that prefer it.
///
/// As a task executor it runs what follows an answer on the thread that received it, without a change of threads. Jobs
/// of tasks must neither block nor take long: every request in progress waits for them. After ``shutdown()`` jobs run on
/// the threads of the runtime.
///
/// `@unchecked Sendable` because libcurl's handles are raw pointers. The rules of ownership:
/// - Other threads use only ``inbox``, which has a lock of its own.
/// - Only the thread in ``run()`` uses the properties under "Driver thread only": handles, and transfers taken from
///   the inbox. libcurl's callbacks run inside its calls, so they are on this thread too.
/// - All other properties are immutable.
///
/// Accesses to what changes here and in the types beside it are not checked at run time for others at the same time: no callback
/// comes inside of one, and the checks take 2 % of a cycle's instructions (callgrind, `Benchmarks/instructions`).
final class CurlDriver: @unchecked Sendable, TaskExecutor {
    private let options: HTTPClientOptions
    private let anchors: TrustAnchors
    private let clock: @Sendable () -> ClockReading
    private let sockets: SocketPoller
    private let inbox: CurlInbox

    // MARK: Driver thread only

    @exclusivity(unchecked) private var active: [UInt64: CurlTransfer] = [:]
    @exclusivity(unchecked) private var waiting: [CurlTransfer] = []
    private let lookups: LookupThreads
    /// Handles hold TLS sessions: without one a new connection takes 0.85 ms of CPU time, not 0.56 (libcurl 7.88 alone,
    /// 2 cores AMD EPYC). Without TLS they save 2 % of an unchanged cycle (`Benchmarks/poll cycles`).
    @exclusivity(unchecked) private var idleHandles: [UnsafeMutableRawPointer] = []

    private static let isLibraryReady = starwatch_global_init() == CURLE_OK

    init(options: HTTPClientOptions, clock: @escaping @Sendable () -> ClockReading) throws(APIFailure) {
        guard Self.isLibraryReady else {
            throw .configuration("libcurl failed to initialise; check its installation.")
        }
        guard let sockets = SocketPoller() else {
            throw .configuration("The HTTP client cannot wait for its sockets; raise the limit of open files.")
        }
        (self.options, self.clock, self.sockets) = (options, clock, sockets)
        lookups = LookupThreads(limit: options.maxLookups, proxy: options.proxy)
        inbox = CurlInbox(wake: sockets.wake)
        do {
            anchors = try TrustAnchors(options)
        } catch {
            sockets.shutdown()
            throw error
        }
        // Here, so that a process without descriptors finds out at its start.
        guard sockets.addShard(connections: options.requestsPerHandle) != nil else {
            sockets.shutdown()
            throw .configuration("The HTTP client cannot wait for its sockets; raise the limit of open files.")
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<CurlDriver>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            context.release()
            sockets.shutdown()
            throw .configuration("The HTTP client's thread cannot be created; raise the process limit.")
        }
        inbox.own(thread)
    }

    // MARK: - Any thread

    /// Assigns the identifier for ``submit(_:id:continuation:)`` and ``cancel(_:)``.
    func reserve() -> UInt64 { inbox.reserve() }

    /// Queues `request`. Resumes `continuation` exactly once, at once if the request is malformed or already cancelled.
    func submit(_ request: HTTPRequest, id: UInt64, continuation: CheckedContinuation<HTTPExchange, Never>) {
        let now = clock()
        let isWellFormed = request.isWellFormed && (request.envelope != nil) == options.isForMails
        let transfer = CurlTransfer(
            id: id,
            request: request,
            submittedAt: now,
            inbox: inbox,
            lookups: lookups,
            acceptsPeer: options.acceptsPeer,
            continuation: continuation
        )
        guard !inbox.submit(transfer, isWellFormed: isWellFormed) else { return }
        continuation.resume(
            returning: HTTPExchange(
                result: .failure(isWellFormed ? .cancelled : .invalidRequest),
                measurements: HTTPMeasurements(sentAt: now, receivedAt: now)
            )
        )
    }

    func cancel(_ id: UInt64) { inbox.cancel(id) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !inbox.add(job) { Offload.executor.enqueue(job) }
    }

    /// Ends all requests as cancelled and joins the thread. A caller on the thread itself does not wait for its end, and
    /// nobody waits for a thread of mails.
    func shutdown() {
        guard let thread = inbox.stop() else { return }
        if options.isForMails || pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    // MARK: - Driver thread

    private func run() {
        lookups.nameDriver()
        // Other threads handle the signals to stop or reload. Fault signals stay open. So does SIGPIPE, because threads
        // and programs started from here inherit the mask; libcurl writes with MSG_NOSIGNAL, also over TLS.
        var signals = sigset_t()
        sigfillset(&signals)
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE] {
            sigdelset(&signals, signal)
        }
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        var batch = CurlInbox.Batch()
        while takeBatches(&batch) {
            sockets.runTimers()
            lookups.nameDriver()
            collect()
            admit()
            // Jobs that make more jobs do not keep it from its sockets.
            sockets.wait(limit: inbox.fallAsleep() ? waitLimitMilliseconds() : 0)
            // A retry of libcurl can have looked up a name. The threads that jobs start are no lookups.
            lookups.nameDriver()
            inbox.wakeUp()
            // Before the next look at the sockets, so that the callers go on at once.
            collect()
        }
        for transfer in Array(active.values) { finish(transfer, with: .cancelled) }
        for transfer in waiting { finish(transfer, with: .cancelled) }
        for easy in idleHandles { curl_easy_cleanup(easy) }
        sockets.shutdown()
    }

    /// The number of batches after which libcurl is asked in between, so that jobs that make more jobs cannot keep it
    /// from its connections.
    private static let longestRun = 16

    /// Runs queued jobs, starts queued requests and handles cancellations; `false` when the thread must end.
    private func takeBatches(_ batch: inout CurlInbox.Batch) -> Bool {
        for _ in 0..<Self.longestRun {
            guard inbox.take(into: &batch) else { return true }
            if batch.isLast {
                waiting.append(contentsOf: batch.submitted)
                for job in batch.jobs { Offload.executor.enqueue(job) }
                return false
            }
            for job in batch.jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if batch.hasRequests { takeRequests(of: &batch) }
        }
        return true
    }

    private func takeRequests(of batch: inout CurlInbox.Batch) {
        for transfer in batch.submitted {
            if active.count < options.maxInFlight, waiting.isEmpty {
                start(transfer, timeout: transfer.request.timeout)
            } else {
                waiting.append(transfer)
            }
        }
        for id in batch.cancelled {
            if let transfer = active[id] {
                finish(transfer, with: .cancelled)
            } else if let index = waiting.firstIndex(where: { $0.id == id }) {
                finish(waiting.remove(at: index), with: .cancelled)
            }
        }
        // Releases what has finished now, not with the next batch.
        batch.clear()
    }

    /// Finishes the transfers that libcurl has completed.
    private func collect() {
        for shard in sockets.shards where shard.hasWorked {
            shard.hasWorked = false
            collect(from: shard)
        }
    }

    private func collect(from shard: CurlShard) {
        var code = CURLE_OK
        while let easy = starwatch_next_done(shard.multi, &code) {
            // Every handle in `multi` has a context: it is set before the handle is added.
            guard let transfer = CurlTransfer.of(starwatch_get_private(easy)) else { continue }
            finish(transfer, with: transfer.error(code, of: easy))
        }
    }

    /// Starts waiting requests while there is room, and ends those whose timeout has passed.
    private func admit() {
        guard !waiting.isEmpty else { return }
        let now = clock().monotonic
        var kept: [CurlTransfer] = []
        for transfer in waiting {
            let left = transfer.request.timeout.map { $0 - (now - transfer.submittedAt.monotonic) }
            if let left, left <= .zero {
                finish(transfer, with: .timeout)
            } else if active.count < options.maxInFlight {
                start(transfer, timeout: left)
            } else {
                kept.append(transfer)
            }
        }
        waiting = kept
    }

    /// Upper bound of the sleep between two passes, in milliseconds; -1 for none. libcurl's timer ends it earlier.
    private func waitLimitMilliseconds() -> Int32 {
        guard !waiting.isEmpty else { return -1 }
        let now = clock().monotonic
        let deadlines = waiting.compactMap { transfer in
            transfer.request.timeout.map { $0 - (now - transfer.submittedAt.monotonic) }
        }
        let next = deadlines.min() ?? .seconds(1)
        return Int32(clamping: min(max(next.wholeMilliseconds + 1, 1), 1000))
    }

    private func start(_ transfer: CurlTransfer, timeout: Duration?) {
        // A mail's handle ends with it.
        let idle = transfer.request.envelope == nil ? idleHandles.popLast() : nil
        guard let easy = idle ?? CurlHandle.make(options: options, anchors: anchors, sockets: sockets) else {
            finish(
                transfer,
                with: .configuration("libcurl is out of memory, or lacks the features for ca_file and pinning.")
            )
            return
        }
        let shard = shardWithRoom()
        shard.active += 1
        (transfer.easy, transfer.shard) = (easy, shard)
        active[transfer.id] = transfer
        guard CurlHandle.prepare(easy, for: transfer, options: options, timeout: timeout) else {
            return finish(transfer, with: .configuration(CurlVersion.adviceWithoutMail))
        }
        if curl_multi_add_handle(shard.multi, easy) != CURLM_OK { finish(transfer, with: .invalidRequest) }
    }

    /// The first handle with room, so that a few requests always find the connections of one handle.
    private func shardWithRoom() -> CurlShard {
        if let shard = sockets.shards.first(where: { $0.active < options.requestsPerHandle }) { return shard }
        if let shard = sockets.addShard(connections: options.requestsPerHandle) { return shard }
        // Without descriptors, any handle takes more than its room. There is always one.
        return sockets.shards.min { $0.active < $1.active }!
    }

    /// Finishes `transfer`: removes it from libcurl, keeps its handle for reuse and resumes the caller.
    private func finish(_ transfer: CurlTransfer, with error: APIFailure?) {
        active[transfer.id] = nil
        let now = clock()
        var measurements = HTTPMeasurements(sentAt: transfer.submittedAt, receivedAt: now)
        var response: HTTPResponse?
        var status: Int?
        var connectErrno: Int32?
        var expiry: Timestamp?
        if let easy = transfer.easy {
            let info = starwatch_get_info(easy)
            measurements.read(info, isComplete: error == nil)
            if info.status > 0 { status = info.status }
            if info.new_connections > 0, info.tls > 0 {
                expiry = Certificate.expiry(ofChain: CurlHandle.expiries(easy), now: now.wall)
            }
            if error == .connect, info.system_errno != 0 { connectErrno = Int32(info.system_errno) }
            if error == nil { response = transfer.response(status: info.status) }
            if error != nil, transfer.request.envelope != nil { CurlHandle.abandonMail(easy) }
            if let shard = transfer.shard {
                curl_multi_remove_handle(shard.multi, easy)
                shard.active -= 1
                transfer.shard = nil
            }
            if let handle = CurlHandle.release(easy, of: transfer) { idleHandles.append(handle) }
        }
        transfer.continuation.resume(
            returning: HTTPExchange(
                result: response.map(Result.success) ?? .failure(error ?? .cancelled),
                measurements: measurements,
                status: status,
                connectErrno: connectErrno,
                certificateExpiry: expiry,
                lastReply: transfer.lastReply
            )
        )
    }
}

extension HTTPMeasurements {
    /// Converts libcurl's times, which all count from the start, into the durations of the phases.
    mutating func read(_ info: starwatch_transfer_info, isComplete: Bool) {
        func microseconds(_ from: Int, _ to: Int) -> Duration { .microseconds(max(to - from, 0)) }
        isNewConnection = info.new_connections > 0
        total = .microseconds(info.total)
        if isNewConnection || !isComplete {
            dns = .microseconds(info.name_lookup)
            connect = info.connect > 0 ? microseconds(info.name_lookup, info.connect) : .zero
            tls = info.tls > 0 ? microseconds(info.connect, info.tls) : .zero
        }
        let connected = max(info.name_lookup, info.connect, info.tls)
        if info.first_byte > 0 {
            firstByte = microseconds(connected, info.first_byte)
            transfer = microseconds(info.first_byte, info.total)
        }
        if info.pre_transfer > 0 {
            sentAt = receivedAt - microseconds(info.pre_transfer, info.total)
        }
        // libcurl counts a body sent together with the head (up to 64 KiB) in both numbers.
        sentBytes = info.request_bytes + (info.request_bytes > info.uploaded_bytes ? 0 : info.uploaded_bytes)
        receivedBytes = info.header_bytes + info.downloaded_bytes
    }
}
