import CCurl
import Glibc

/// One of libcurl's multi handles, with its connections and its timer.
///
/// libcurl looks at the connections of a handle one by one when a request begins and when it ends. Each of them is a cache
/// miss, so a request among 1,000 of one handle took 1.4 times the CPU time of one among 1,000 of 32 handles
/// (`Benchmarks/Peers/in_flight.c`).
///
/// Only the driver's thread uses it.
final class CurlShard {
    let multi: UnsafeMutableRawPointer
    /// A timerfd that ends the wait. The kernel reads the clock.
    let alarm: Int32
    private unowned let poller: SocketPoller
    /// The number of its requests.
    @exclusivity(unchecked) var active = 0
    /// Whether libcurl has worked since the last look for finished requests.
    @exclusivity(unchecked) var hasWorked = false
    /// Whether libcurl's timer is due.
    @exclusivity(unchecked) private(set) var isDue = false
    /// The milliseconds that the alarm was last set for; `nil` after it rang.
    @exclusivity(unchecked) private var alarmDelay: Int?
    /// The milliseconds until libcurl's timer is due; `nil` if the alarm rings by then.
    @exclusivity(unchecked) private var delay: Int?

    /// Returns `nil` if the process has no descriptors or memory left.
    init?(of poller: SocketPoller, connections: Int) {
        guard let multi = curl_multi_init() else { return nil }
        alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        (self.multi, self.poller) = (multi, poller)
        guard alarm >= 0 else {
            curl_multi_cleanup(multi)
            return nil
        }
        // By default the cache shrinks to four connections after a burst, and the next burst reopens all the others.
        _ = starwatch_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(connections, 4))
        let context = Unmanaged.passUnretained(self).toOpaque()
        starwatch_multi_set_callbacks(multi, starwatchWatchSocket, starwatchSetTimer, context)
    }

    /// Closes libcurl's handle first, which still calls back.
    func close() {
        curl_multi_cleanup(multi)
        Glibc.close(alarm)
    }

    /// Lets libcurl work on a socket.
    func act(on socket: Int32, _ condition: Int32) {
        var running: Int32 = 0
        hasWorked = true
        curl_multi_socket_action(multi, socket, condition, &running)
    }

    /// Lets libcurl do what its timer asked for, such as the start of a request.
    func runTimer() {
        guard isDue else { return }
        isDue = false
        act(on: CURL_SOCKET_TIMEOUT, 0)
    }

    /// Notes that the alarm rang.
    func ring() { (alarmDelay, isDue) = (nil, true) }

    /// Sets the alarm, unless it rings before. libcurl then says how much is left.
    func setAlarm() {
        guard let delay else { return }
        self.delay = nil
        if let alarmDelay, alarmDelay <= delay { return }
        alarmDelay = delay
        starwatch_set_alarm(alarm, delay)
    }

    /// - Parameter milliseconds: Negative if libcurl needs no timer. An alarm that is set finds nothing to do then.
    fileprivate func setTimer(_ milliseconds: Int) {
        isDue = milliseconds == 0
        delay = milliseconds > 0 ? milliseconds : nil
    }

    fileprivate func watch(_ socket: Int32, _ interest: Int32) { poller.watch(socket, interest, for: self) }
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
    Unmanaged<CurlShard>.fromOpaque(context).takeUnretainedValue().watch(socket, interest)
    return 0
}

/// libcurl's callback that sets the only timer of a handle.
private func starwatchSetTimer(
    multi: UnsafeMutableRawPointer?,
    milliseconds: Int,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<CurlShard>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
    return 0
}
