import CCurl
import Glibc

/// The sockets and the timer that libcurl waits for, over epoll.
///
/// Requests in flight cost nothing while they wait: `curl_multi_perform` and `curl_multi_poll` visit each of them in each
/// pass instead, so that a request among 1,000 took five times the CPU time of one among 10 (`Benchmarks/poll requests`).
///
/// An event disarms its socket (`EPOLLONESHOT`), so that one system call a request arms it again, and none takes it away.
///
/// Only the driver's thread uses it, except ``wake()``.
final class SocketPoller {
    private let multi: UnsafeMutableRawPointer
    private let epoll: Int32
    /// An eventfd that ends the wait.
    private let bell: Int32
    /// A timerfd that ends the wait. The kernel reads the clock.
    private let alarm: Int32
    /// The milliseconds that the alarm was last set for; `nil` after it rang.
    private var alarmDelay: Int?
    /// Whether libcurl's timer is due.
    private var isDue = false
    /// The milliseconds until libcurl's timer is due; `nil` if the alarm rings by then.
    private var delay: Int?
    /// For each descriptor, the events that libcurl waits for and those that the kernel reports.
    private var sockets: [(wanted: UInt32, armed: UInt32)] = []
    private var events = [epoll_event](repeating: epoll_event(), count: 64)

    /// Returns `nil` if the process has no descriptors left.
    init?(_ multi: UnsafeMutableRawPointer) {
        self.multi = multi
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        // Edges, so that neither is read.
        let edges = EPOLLIN.rawValue | EPOLLET.rawValue
        guard [bell, alarm].allSatisfy({ control(EPOLL_CTL_ADD, $0, edges) }) else {
            for descriptor in [epoll, bell, alarm] { close(descriptor) }
            return nil
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        starwatch_multi_set_callbacks(multi, starwatchWatchSocket, starwatchSetTimer, context)
    }

    /// Closes libcurl's handle first, which still calls back.
    func shutdown() {
        curl_multi_cleanup(multi)
        for descriptor in [epoll, bell, alarm] { close(descriptor) }
    }

    /// Ends the wait, from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
    }

    /// Lets libcurl do what its timer asked for, such as the start of a request.
    func runTimer() {
        guard isDue else { return }
        isDue = false
        act(on: CURL_SOCKET_TIMEOUT, 0)
    }

    /// Waits until a socket is ready, the timer is due, ``wake()`` is called or `limit` has passed, and lets libcurl work on
    /// the ready sockets.
    ///
    /// - Parameter limit: Milliseconds; 0 only looks, -1 sets no limit.
    func wait(limit: Int32) {
        setAlarm()
        let count = epoll_wait(epoll, &events, Int32(events.count), isDue ? 0 : limit)
        guard count > 0 else { return }
        for event in events[..<Int(count)] {
            switch event.data.fd {
            case bell: break
            case alarm: (alarmDelay, isDue) = (nil, true)
            case let socket: serve(socket, event.events)
            }
        }
    }

    private func serve(_ socket: Int32, _ events: UInt32) {
        let index = Int(socket)
        sockets[index].armed = 0
        // An earlier event can have ended the request.
        guard sockets[index].wanted != 0 else { return }
        act(on: socket, Self.condition(events))
        arm(socket)
    }

    /// Watches `socket` for what libcurl waits for.
    fileprivate func watch(_ socket: Int32, _ interest: Int32) {
        let index = Int(socket)
        while sockets.count <= index { sockets.append((0, 0)) }
        var wanted: UInt32 = 0
        if interest != CURL_POLL_REMOVE {
            if interest & CURL_POLL_IN != 0 { wanted |= EPOLLIN.rawValue }
            if interest & CURL_POLL_OUT != 0 { wanted |= EPOLLOUT.rawValue }
        }
        sockets[index].wanted = wanted
        // The number can be that of another socket when libcurl names it again.
        if wanted == 0 { sockets[index].armed = 0 }
        arm(socket)
    }

    private func arm(_ socket: Int32) {
        let (wanted, armed) = sockets[Int(socket)]
        guard wanted != 0, wanted != armed else { return }
        sockets[Int(socket)].armed = wanted
        let events = wanted | EPOLLONESHOT.rawValue
        if !control(EPOLL_CTL_MOD, socket, events) { _ = control(EPOLL_CTL_ADD, socket, events) }
    }

    /// - Parameter milliseconds: Negative if libcurl needs no timer. An alarm that is set finds nothing to do then.
    fileprivate func setTimer(_ milliseconds: Int) {
        isDue = milliseconds == 0
        delay = milliseconds > 0 ? milliseconds : nil
    }

    /// Sets the alarm, unless it rings before. libcurl then says how much is left.
    private func setAlarm() {
        guard let delay else { return }
        self.delay = nil
        if let alarmDelay, alarmDelay <= delay { return }
        alarmDelay = delay
        starwatch_set_alarm(alarm, delay)
    }

    private func act(on socket: Int32, _ condition: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, condition, &running)
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

/// libcurl's callback that says what it waits for on a socket.
private func starwatchWatchSocket(
    easy: UnsafeMutableRawPointer?,
    socket: Int32,
    interest: Int32,
    context: UnsafeMutableRawPointer?,
    unused: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().watch(socket, interest)
    return 0
}

/// libcurl's callback that sets its only timer.
private func starwatchSetTimer(
    multi: UnsafeMutableRawPointer?,
    milliseconds: Int,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
    return 0
}
