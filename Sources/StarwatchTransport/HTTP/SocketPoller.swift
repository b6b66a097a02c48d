import CCurl
import Glibc

/// The sockets and the timers that libcurl waits for, over epoll.
///
/// Requests in flight cost nothing while they wait: `curl_multi_perform` and `curl_multi_poll` visit each of them in each
/// pass instead, so that a request among 1,000 took five times the CPU time of one among 10 (`Benchmarks/poll requests`).
///
/// The kernel goes on watching a connection that waits for its next request, so that a request takes no system call for that.
///
/// Only the driver's thread uses it, except ``wake()``.
final class SocketPoller {
    /// A descriptor that epoll watches.
    private struct Watched {
        /// The events that libcurl waits for.
        var wanted: UInt32 = 0
        /// The events that the kernel reports.
        var armed: UInt32 = 0
        /// The handle that it belongs to.
        var shard: CurlShard?
        /// Whether libcurl says when it closes it. The number can then not become that of another socket unnoticed.
        var isFollowed = false
    }

    private let epoll: Int32
    /// An eventfd that ends the wait.
    private let bell: Int32
    @exclusivity(unchecked) private(set) var shards: [CurlShard] = []
    /// The watched descriptors, by their number.
    @exclusivity(unchecked) private var watched: [Watched] = []
    @exclusivity(unchecked) private var events = [epoll_event](repeating: epoll_event(), count: 64)

    /// Edges, so that neither the bell nor an alarm is read.
    private static let edges = EPOLLIN.rawValue | EPOLLET.rawValue

    /// Returns `nil` if the process has no descriptors left.
    init?() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard control(EPOLL_CTL_ADD, bell, Self.edges) else {
            for descriptor in [epoll, bell] { close(descriptor) }
            return nil
        }
    }

    /// Adds one of libcurl's handles.
    ///
    /// - Parameter connections: The number of connections that it keeps.
    /// - Returns: `nil` if the process has no descriptors or memory left.
    func addShard(connections: Int) -> CurlShard? {
        guard let shard = CurlShard(of: self, connections: connections) else { return nil }
        guard control(EPOLL_CTL_ADD, shard.alarm, Self.edges) else {
            shard.close()
            return nil
        }
        shards.append(shard)
        self[shard.alarm].shard = shard
        return shard
    }

    func shutdown() {
        for shard in shards { shard.close() }
        (shards, watched) = ([], [])
        for descriptor in [epoll, bell] { close(descriptor) }
    }

    /// Ends the wait, from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
    }

    func runTimers() { for shard in shards { shard.runTimer() } }

    /// Waits until a socket is ready, a timer is due, ``wake()`` is called or `limit` has passed, and lets libcurl work on
    /// the ready sockets.
    ///
    /// - Parameter limit: Milliseconds; 0 only looks, -1 sets no limit.
    func wait(limit: Int32) {
        var limit = limit
        for shard in shards {
            shard.setAlarm()
            if shard.isDue { limit = 0 }
        }
        let count = epoll_wait(epoll, &events, Int32(events.count), limit)
        guard count > 0 else { return }
        for event in events[..<Int(count)] where event.data.fd != bell { serve(event.data.fd, event.events) }
    }

    private func serve(_ socket: Int32, _ events: UInt32) {
        let present = self[socket]
        guard let shard = present.shard else { return }
        if socket == shard.alarm { return shard.ring() }
        guard present.wanted != 0 else {
            // The server has closed a connection that waits. libcurl notices it with the next request.
            self[socket].armed = 0
            _ = control(EPOLL_CTL_DEL, socket, 0)
            return
        }
        shard.act(on: socket, Self.condition(events))
    }

    /// Watches `socket` for what libcurl waits for.
    func watch(_ socket: Int32, _ interest: Int32, for shard: CurlShard) {
        var wanted: UInt32 = 0
        if interest != CURL_POLL_REMOVE {
            if interest & CURL_POLL_IN != 0 { wanted |= EPOLLIN.rawValue }
            if interest & CURL_POLL_OUT != 0 { wanted |= EPOLLOUT.rawValue }
        }
        let former = self[socket]
        (self[socket].wanted, self[socket].shard) = (wanted, shard)
        guard wanted != 0 else {
            // libcurl before 8.2 closes a connection that was never made without a word.
            if !former.isFollowed || former.wanted == EPOLLOUT.rawValue {
                self[socket] = Watched()
                _ = control(EPOLL_CTL_DEL, socket, 0)
            }
            return
        }
        guard wanted != former.armed else { return }
        self[socket].armed = wanted
        if !control(EPOLL_CTL_MOD, socket, wanted) { _ = control(EPOLL_CTL_ADD, socket, wanted) }
    }

    /// Lets libcurl say when a handle opens and closes connections. The poller must outlive them.
    func follow(_ easy: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        starwatch_set_connection_callbacks(easy, starwatchOpened, starwatchClosed, context)
    }

    /// Notes a new connection, whose end libcurl says.
    func opened(_ socket: Int32) { self[socket] = Watched(isFollowed: true) }

    /// Notes the end of a connection, whose number another socket can have now.
    func closed(_ socket: Int32) { self[socket] = Watched() }

    private subscript(descriptor: Int32) -> Watched {
        get { watched.indices.contains(Int(descriptor)) ? watched[Int(descriptor)] : Watched() }
        _modify {
            let index = Int(descriptor)
            while watched.count <= index { watched.append(Watched()) }
            yield &watched[index]
        }
    }

    private func control(_ operation: Int32, _ socket: Int32, _ wanted: UInt32) -> Bool {
        var event = epoll_event()
        event.events = wanted
        event.data.fd = socket
        return epoll_ctl(epoll, operation, socket, &event) == 0
    }

    /// libcurl's words for the events of epoll. A hang-up is read like data, so that libcurl finds the end.
    private static func condition(_ events: UInt32) -> Int32 {
        var condition: Int32 = 0
        if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { condition |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { condition |= CURL_CSELECT_OUT }
        if events & EPOLLERR.rawValue != 0 { condition |= CURL_CSELECT_ERR }
        return condition
    }
}

/// libcurl's callback for a new connection.
private func starwatchOpened(context: UnsafeMutableRawPointer?, socket: Int32, purpose: curlsocktype) -> Int32 {
    if let context { Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().opened(socket) }
    return CURL_SOCKOPT_OK
}

/// libcurl's callback that closes a connection.
private func starwatchClosed(context: UnsafeMutableRawPointer?, socket: Int32) -> Int32 {
    if let context { Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().closed(socket) }
    return close(socket)
}
