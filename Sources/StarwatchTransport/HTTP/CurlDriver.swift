import CCurl
import Glibc
import StarwatchCore

/// The thread that runs libcurl, and its queue of requests.
///
/// `@unchecked Sendable` because libcurl's handles are raw pointers. The rules of ownership:
/// - `lock` guards the properties under "Shared". Any thread may take it. Nothing blocks while it is held.
/// - Only the thread in ``run()`` uses the properties under "Driver thread only": handles, and transfers taken from
///   the queue. libcurl's callbacks run inside its calls, so they are on this thread too.
/// - All other properties are immutable.
/// - Other threads make one libcurl call, `curl_multi_wakeup`, which is designed for that. They make it under `lock`
///   and only while `isStopping` is false, so the multi handle still exists.
final class CurlDriver: @unchecked Sendable {
    private let options: HTTPClientOptions
    private let anchors: TrustAnchors
    private let clock: @Sendable () -> ClockReading
    private let multi: UnsafeMutableRawPointer

    // MARK: Shared

    private let lock = PthreadLock()
    private var lastID: UInt64 = 0
    /// Identifiers of calls that are not submitted yet. A cancellation before submission removes the identifier.
    private var reserved: Set<UInt64> = []
    private var incoming: [CurlTransfer] = []
    private var cancellations: [UInt64] = []
    private var isWoken = false
    private var isStopping = false
    private var thread: pthread_t?

    // MARK: Driver thread only

    private var active: [UInt64: CurlTransfer] = [:]
    private var waiting: [CurlTransfer] = []
    /// Handles hold TLS sessions: without one a new connection takes 0.85 ms of CPU time, not 0.56 (libcurl 7.88 alone,
    /// 2 cores AMD EPYC). Without TLS they save 2 % of an unchanged cycle (`Benchmarks/poll cycles`).
    private var idleHandles: [UnsafeMutableRawPointer] = []

    private static let isLibraryReady = starwatch_global_init() == CURLE_OK

    init(options: HTTPClientOptions, clock: @escaping @Sendable () -> ClockReading) throws(HTTPError) {
        guard Self.isLibraryReady, let multi = curl_multi_init() else {
            throw .configuration("libcurl failed to initialise; check its installation.")
        }
        self.options = options
        self.clock = clock
        self.multi = multi
        do {
            anchors = try TrustAnchors(options)
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
        // By default the cache shrinks to four connections after a burst, and the next burst reopens all the others.
        _ = starwatch_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(options.maxInFlight, 4))

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
            curl_multi_cleanup(multi)
            throw .configuration("The HTTP client's thread cannot be created; raise the process limit.")
        }
        lock.withLock { self.thread = thread }
    }

    // MARK: - Any thread

    /// Assigns the identifier for ``submit(_:id:continuation:)`` and ``cancel(_:)``.
    func reserve() -> UInt64 {
        lock.withLock {
            lastID += 1
            reserved.insert(lastID)
            return lastID
        }
    }

    /// Queues `request`. Resumes `continuation` exactly once, at once if the request is malformed or already cancelled.
    func submit(_ request: HTTPRequest, id: UInt64, continuation: CheckedContinuation<HTTPExchange, Never>) {
        let now = clock()
        let isWellFormed = request.isWellFormed
        let isAccepted = lock.withLock {
            guard reserved.remove(id) != nil, !isStopping, isWellFormed else { return false }
            incoming.append(
                CurlTransfer(
                    id: id,
                    request: request,
                    submittedAt: now,
                    maxLookups: options.maxLookups,
                    acceptsPeer: options.acceptsPeer,
                    continuation: continuation
                )
            )
            wake()
            return true
        }
        if !isAccepted {
            continuation.resume(
                returning: HTTPExchange(
                    result: .failure(isWellFormed ? .cancelled : .invalidRequest),
                    measurements: HTTPMeasurements(sentAt: now, receivedAt: now)
                )
            )
        }
    }

    func cancel(_ id: UInt64) {
        lock.withLock {
            guard reserved.remove(id) == nil, !isStopping else { return }
            cancellations.append(id)
            wake()
        }
    }

    /// Ends all requests as cancelled and joins the thread.
    func shutdown() {
        let thread: pthread_t? = lock.withLock {
            defer { self.thread = nil }
            if !isStopping {
                wake()
                isStopping = true
            }
            return self.thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    /// Wakes the driver thread. The caller holds `lock`. One wake-up per batch, because each costs two system calls.
    private func wake() {
        guard !isWoken, !isStopping else { return }
        isWoken = true
        curl_multi_wakeup(multi)
    }

    // MARK: - Driver thread

    private func run() {
        LookupThreads.nameDriver()
        // Other threads handle the signals to stop or reload. Fault signals stay open. So does SIGPIPE, because threads
        // and programs started from here inherit the mask; libcurl writes with MSG_NOSIGNAL, also over TLS.
        var signals = sigset_t()
        sigfillset(&signals)
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE] {
            sigdelset(&signals, signal)
        }
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        while takeBatch() {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            LookupThreads.nameDriver()
            collect()
            admit()
            curl_multi_poll(multi, nil, 0, pollLimitMilliseconds(), nil)
        }
        for transfer in Array(active.values) { finish(transfer, with: .cancelled) }
        for transfer in waiting { finish(transfer, with: .cancelled) }
        for easy in idleHandles { curl_easy_cleanup(easy) }
        curl_multi_cleanup(multi)
    }

    /// Starts queued requests and handles cancellations; `false` when the thread must end.
    private func takeBatch() -> Bool {
        var submitted: [CurlTransfer] = []
        var cancelled: [UInt64] = []
        let isStopping = lock.withLock {
            swap(&submitted, &incoming)
            swap(&cancelled, &cancellations)
            isWoken = false
            return self.isStopping
        }
        if isStopping {
            waiting.append(contentsOf: submitted)
            return false
        }
        for transfer in submitted {
            if active.count < options.maxInFlight, waiting.isEmpty {
                start(transfer, timeout: transfer.request.timeout)
            } else {
                waiting.append(transfer)
            }
        }
        for id in cancelled {
            if let transfer = active[id] {
                finish(transfer, with: .cancelled)
            } else if let index = waiting.firstIndex(where: { $0.id == id }) {
                finish(waiting.remove(at: index), with: .cancelled)
            }
        }
        return true
    }

    /// Finishes the transfers that libcurl has completed.
    private func collect() {
        var code = CURLE_OK
        while let easy = starwatch_next_done(multi, &code) {
            // Every handle in `multi` has a context: it is set before the handle is added.
            guard let context = starwatch_get_private(easy) else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            if code != CURLE_OK {
                finish(transfer, with: HTTPError(code, starwatch_get_info(easy), of: transfer))
            } else {
                // libcurl reports a connection that closes within the head as a response without a body.
                finish(transfer, with: transfer.isHeadComplete ? nil : .reset)
            }
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

    /// Upper bound of the sleep between two passes. libcurl wakes earlier for its own timers.
    private func pollLimitMilliseconds() -> Int32 {
        guard !waiting.isEmpty else { return 60_000 }
        let now = clock().monotonic
        let deadlines = waiting.compactMap { transfer in
            transfer.request.timeout.map { $0 - (now - transfer.submittedAt.monotonic) }
        }
        let next = deadlines.min() ?? .seconds(1)
        return Int32(clamping: min(max(next.wholeMilliseconds + 1, 1), 1000))
    }

    private func start(_ transfer: CurlTransfer, timeout: Duration?) {
        guard let easy = idleHandles.popLast() ?? CurlHandle.make(options: options, anchors: anchors) else {
            finish(
                transfer,
                with: .configuration("libcurl is out of memory, or lacks the features for ca_file and pinning.")
            )
            return
        }
        transfer.easy = easy
        CurlHandle.prepare(easy, for: transfer, options: options, timeout: timeout)
        active[transfer.id] = transfer
        if curl_multi_add_handle(multi, easy) != CURLM_OK { finish(transfer, with: .invalidRequest) }
    }

    /// Finishes `transfer`: removes it from libcurl, keeps its handle for reuse and resumes the caller.
    private func finish(_ transfer: CurlTransfer, with error: HTTPError?) {
        active[transfer.id] = nil
        let now = clock()
        var measurements = HTTPMeasurements(sentAt: transfer.submittedAt, receivedAt: now)
        var result = Result<HTTPResponse, HTTPError>.failure(error ?? .cancelled)
        var status: Int?
        var connectErrno: Int32?
        if let easy = transfer.easy {
            let info = starwatch_get_info(easy)
            measurements.read(info, isComplete: error == nil)
            if info.status > 0 { status = info.status }
            if error == .connect, info.system_errno != 0 { connectErrno = Int32(info.system_errno) }
            if error == nil { result = .success(transfer.response(status: info.status)) }
            curl_multi_remove_handle(multi, easy)
            CurlHandle.release(easy, of: transfer)
            idleHandles.append(easy)
        }
        var exchange = HTTPExchange(result: result, measurements: measurements, status: status)
        exchange.connectErrno = connectErrno
        transfer.continuation.resume(returning: exchange)
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
