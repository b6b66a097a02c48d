import Foundation

/// The least that a client can do: one thread, plain sockets, one request after the other on each, no parsing beyond
/// the answer's length. What it measures is the server and the machine.
enum BareClient {
    /// Keeps `connections` requests under way until each connection has had `requests`.
    ///
    /// - Parameter body: The JSON of a POST to the changes report.
    /// - Returns: How long each request took, in milliseconds.
    static func run(server: URL, body: String, connections: Int, requests: Int) throws -> [Double] {
        let port = server.port ?? 80
        let head = """
            POST /api/v2/report/plansLastUpdatedBetween HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r

            """
        let request = Array((head + body).utf8)
        let poller = epoll_create1(0)
        defer { close(poller) }
        var open: [Int32: Connection] = [:]
        defer { for descriptor in open.keys { close(descriptor) } }
        for _ in 0..<connections {
            let descriptor = try connect(port: port)
            open[descriptor] = Connection(left: requests)
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: descriptor))
            epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event)
            try send(request, on: descriptor)
        }
        var taken: [Double] = []
        taken.reserveCapacity(connections * requests)
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !open.isEmpty {
            let ready = epoll_wait(poller, &events, Int32(events.count), 30_000)
            guard ready > 0 else { throw Failure.noAnswer }
            for event in events.prefix(Int(ready)) {
                let descriptor = event.data.fd
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0, var connection = open[descriptor] else { throw Failure.noAnswer }
                connection.received += buffer[..<count]
                if connection.isComplete {
                    taken.append((ContinuousClock.now - connection.start) / .milliseconds(1))
                    connection.left -= 1
                    connection.received.removeAll(keepingCapacity: true)
                    connection.start = .now
                    if connection.left > 0 { try send(request, on: descriptor) }
                }
                open[descriptor] = connection.left > 0 ? connection : nil
                if connection.left == 0 { close(descriptor) }
            }
        }
        return taken
    }

    enum Failure: Error {
        case noConnection, noAnswer
    }

    private struct Connection {
        var left: Int
        var start = ContinuousClock.now
        var received: [UInt8] = []

        init(left: Int) { self.left = left }

        /// Whether the head and as many bytes as it declares are here.
        var isComplete: Bool {
            let text = String(decoding: received, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n"),
                let length = text[..<end.lowerBound].lowercased().firstMatch(of: /content-length: *([0-9]+)/)
            else { return false }
            return text[end.upperBound...].utf8.count >= Int(length.1) ?? 0
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
