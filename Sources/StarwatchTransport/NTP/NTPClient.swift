// A release build finds the constants of sockets in CCurl, a debug build in Glibc.
import CCurl
import Dispatch
import Glibc
package import StarwatchCore

/// Queries an NTP server for its time: one request, one response (RFC 4330; RFC 5905 in client mode).
///
/// Name lookups and waits block a dispatch queue of the client's own. An attacker off the network path cannot forge a
/// response: the socket accepts datagrams from one address only, and the response must repeat 64 random bits.
package struct NTPClient: Sendable {
    /// Number of unrelated datagrams after which a request fails.
    static let strayLimit = 100

    /// Limit of the wait for a response. A longer round trip gives no useful sample.
    package var timeout = Duration.seconds(2)
    private let host: String
    private let port: Int
    private let clock: @Sendable () -> ClockReading
    private let nonce: @Sendable () -> UInt64
    private let queue = DispatchQueue(label: "starwatch.ntp")

    /// - Parameters:
    ///   - host: A name, or an IP address without brackets.
    ///   - clock: Reads both clocks. Called on the client's queue.
    ///   - nonce: Returns unpredictable random bits.
    package init(
        host: String,
        port: Int,
        clock: @escaping @Sendable () -> ClockReading,
        nonce: @escaping @Sendable () -> UInt64 = { .random(in: 1 ... .max) }
    ) {
        (self.host, self.port, self.clock, self.nonce) = (host, port, clock, nonce)
    }

    /// Sends one request and returns the server's time.
    ///
    /// Concurrent calls run one after the other. Cancelling the task ends the wait immediately; the socket is closed
    /// when the response arrives or the timeout passes.
    package func sample() async throws(NTPError) -> ClockSample {
        typealias Answer = Result<ClockSample, NTPError>
        let (answers, continuation) = AsyncStream<Answer>.makeStream()
        queue.async {
            continuation.yield(Answer { () throws(NTPError) in try query() })
            continuation.finish()
        }
        for await answer in answers { return try answer.get() }
        throw .cancelled
    }

    // MARK: - Client's queue

    private func query() throws(NTPError) -> ClockSample {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let first = found else { throw .dns }
        defer { freeaddrinfo(first) }
        // The first reachable address. If it does not respond, the next request can reach another.
        for address in sequence(first: first, next: \.pointee.ai_next) {
            let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = socket(address.pointee.ai_family, type, 0)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else { continue }
            return try exchange(on: descriptor)
        }
        throw .network
    }

    private func exchange(on descriptor: Int32) throws(NTPError) -> ClockSample {
        let nonce = nonce()
        let request = NTPPacket.request(nonce: nonce)
        let sent = clock()
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { throw .network }
        var buffer = [UInt8](repeating: 0, count: 512)
        for _ in 0..<Self.strayLimit {
            let left = timeout - (clock().monotonic - sent.monotonic)
            guard left > .zero else { throw .timeout }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, Int32(clamping: left.wholeMilliseconds + 1))
            if ready == 0 { throw .timeout }
            let count = ready < 0 ? -1 : recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            let received = clock()
            guard count >= 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                throw .network
            }
            // A forged or late datagram: the real response can still arrive.
            guard let packet = NTPPacket(buffer.prefix(count)), packet.originate.bits == nonce else { continue }
            return try packet.sample(sent: sent, received: received)
        }
        throw .timeout
    }
}
