import CCurl
import Glibc

/// The sockets and the timer that libcurl waits for, over epoll.
///
/// Requests in flight cost nothing while they wait: `curl_multi_perform` and `curl_multi_poll` visit each of them in each
/// pass instead, so that a cycle among 1,000 in flight takes 1.7 times the CPU time of one among 10
/// (`Benchmarks/poll in-flight 0ms`, 2 cores).
///
/// Only the driver's thread uses it, except ``wake()``.
final class SocketPoller {
    private let multi: UnsafeMutableRawPointer
    private let epoll: Int32
    /// An eventfd that ends the wait.
    private let bell: Int32
    /// A timerfd that ends the wait. The kernel reads the clock.
    private let alarm: Int32
    /// Whether libcurl's timer is due.
    private var isDue = false
    /// The milliseconds until libcurl's timer is due, unless the alarm is set for them.
    private var delay: Int?
    private var events = [epoll_event](repeating: epoll_event(), count: 64)

    /// Returns `nil` if the process has no descriptors left.
    init?(_ multi: UnsafeMutableRawPointer) {
        self.multi = multi
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        let isWatched = [bell, alarm].allSatisfy { control(EPOLL_CTL_ADD, $0, EPOLLIN.rawValue) }
        guard isWatched else {
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
            let descriptor = event.data.fd
            if descriptor == bell || descriptor == alarm {
                var times: UInt64 = 0
                _ = read(descriptor, &times, MemoryLayout<UInt64>.size)
                if descriptor == alarm { isDue = true }
            } else {
                act(on: descriptor, Self.condition(event.events))
            }
        }
    }

    /// Watches `socket` for what libcurl waits for.
    fileprivate func watch(_ socket: Int32, _ interest: Int32, isKnown: Bool) {
        guard interest != CURL_POLL_REMOVE else {
            _ = control(EPOLL_CTL_DEL, socket, 0)
            return
        }
        var wanted: UInt32 = 0
        if interest & CURL_POLL_IN != 0 { wanted |= EPOLLIN.rawValue }
        if interest & CURL_POLL_OUT != 0 { wanted |= EPOLLOUT.rawValue }
        if !control(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, wanted), isKnown {
            // The number is that of a new socket.
            _ = control(EPOLL_CTL_ADD, socket, wanted)
        }
        if !isKnown { curl_multi_assign(multi, socket, Unmanaged.passUnretained(self).toOpaque()) }
    }

    /// - Parameter milliseconds: Negative if libcurl needs no timer. An alarm that is set finds nothing to do then.
    fileprivate func setTimer(_ milliseconds: Int) {
        isDue = milliseconds == 0
        delay = milliseconds > 0 ? milliseconds : nil
    }

    /// Sets the alarm for the last time that libcurl named, because it names several in each pass.
    private func setAlarm() {
        guard let delay else { return }
        self.delay = nil
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
    known: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().watch(socket, interest, isKnown: known != nil)
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
