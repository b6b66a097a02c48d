import Foundation

/// The least that a client can do: one thread, plain sockets, one request after the other on each, no parsing beyond
/// the answer's length. What it measures is the server and the machine.
enum BareClient {
    /// Keeps a request under way on each of several connections until each has had `requests`.
    ///
    /// - Parameters:
    ///   - body: The JSON of a POST to the changes report.
    ///   - starts: When each connection begins, counted from now and in order.
    /// - Returns: How long each request took, in milliseconds, but for the first and the last of each connection.
    static func run(server: URL, body: String, starts: [Duration], requests: Int) throws -> [Double] {
        let port = server.port ?? 80
        let request = request(body, port: port)
        var polled: [pollfd] = []
        var open: [Connection] = []
        defer { for one in polled where one.fd >= 0 { close(one.fd) } }
        for _ in starts {
            polled.append(pollfd(fd: try connect(port: port), events: Int16(POLLIN), revents: 0))
            open.append(Connection(left: requests))
        }
        var taken: [Double] = []
        taken.reserveCapacity(starts.count * requests)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let begin = ContinuousClock.now
        var started = 0
        var left = starts.count
        while left > 0 {
            var limit: Int32 = 30_000
            while started < starts.count {
                let wait = begin + starts[started] - .now
                if wait > .zero {
                    limit = Int32((wait / .milliseconds(1)).rounded(.up))
                    break
                }
                open[started].start = .now
                try send(request, on: polled[started].fd)
                started += 1
            }
            let ready = poll(&polled, nfds_t(polled.count), limit)
            guard ready > 0 || (ready == 0 && started < starts.count) else { throw Failure.noAnswer }
            for index in polled.indices where polled[index].fd >= 0 && polled[index].revents != 0 {
                let descriptor = polled[index].fd
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { throw Failure.noAnswer }
                open[index].received.append(contentsOf: buffer[0..<count])
                guard open[index].isComplete else { continue }
                guard open[index].isSuccess else { throw Failure.refused }
                if open[index].left != requests, open[index].left != 1 {
                    taken.append((ContinuousClock.now - open[index].start) / .milliseconds(1))
                }
                open[index].received.removeAll(keepingCapacity: true)
                open[index].left -= 1
                if open[index].left > 0 {
                    open[index].start = .now
                    try send(request, on: descriptor)
                } else {
                    close(descriptor)
                    // Left out from now on.
                    polled[index].fd = -1
                    left -= 1
                }
            }
        }
        return taken
    }

    /// The text of one answer.
    static func answer(server: URL, body: String) throws -> String {
        let port = server.port ?? 80
        let descriptor = try connect(port: port)
        defer { close(descriptor) }
        try send(request(body, port: port), on: descriptor)
        var connection = Connection(left: 1)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !connection.isComplete {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw Failure.noAnswer }
            connection.received.append(contentsOf: buffer[0..<count])
        }
        guard connection.isSuccess else { throw Failure.refused }
        return String(decoding: connection.received, as: UTF8.self)
    }

    private static func request(_ body: String, port: Int) -> [UInt8] {
        let head = """
            POST /api/v2/report/plansLastUpdatedBetween HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r

            """
        return Array((head + body).utf8)
    }

    enum Failure: Error {
        case noConnection, noAnswer, refused
    }

    private struct Connection {
        var left: Int
        var start = ContinuousClock.now
        var received: [UInt8] = []

        init(left: Int) { self.left = left }

        private static let headEnd = Array("\r\n\r\n".utf8)
        private static let lengthName = Array("Content-Length: ".utf8)

        var isSuccess: Bool { received.starts(with: "HTTP/1.1 200 ".utf8) }

        /// Whether the head and as many bytes as it declares are here; the name as the mock server writes it.
        var isComplete: Bool {
            guard let end = received.firstRange(of: Self.headEnd),
                let name = received[..<end.lowerBound].firstRange(of: Self.lengthName)
            else { return false }
            let digits = received[name.upperBound...].prefix { (48...57).contains($0) }
            return received.count - end.upperBound >= digits.reduce(0) { $0 * 10 + Int($1) - 48 }
        }
    }

    private static func connect(port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure.noConnection }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// The request fits the socket's buffer, so it goes out whole.
    private static func send(_ request: [UInt8], on descriptor: Int32) throws {
        guard write(descriptor, request, request.count) == request.count else { throw Failure.noConnection }
    }
}
