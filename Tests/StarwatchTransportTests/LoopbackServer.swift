import Foundation
import Glibc

/// A TCP server on a free port of 127.0.0.1 with a test's behaviour. Each connection has a thread.
final class LoopbackServer: Sendable {
    let port: Int
    private let listener: Int32

    /// Starts listening. `handler` runs on a thread per connection; the connection closes when it returns.
    init(_ handler: @escaping @Sendable (LoopbackConnection) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 512) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Self.accept(on: listener, handler)
    }

    /// Listens on a Unix socket.
    init(socketPath: String, _ handler: @escaping @Sendable (LoopbackConnection) -> Void) throws {
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        port = 0
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let listener = listener
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listener, 512) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        Self.accept(on: listener, handler)
    }

    private static func accept(on listener: Int32, _ handler: @escaping @Sendable (LoopbackConnection) -> Void) {
        Thread.detachNewThread {
            while true {
                let socket = Glibc.accept(listener, nil, nil)
                // Only this thread closes the listener. If another thread closed it, its descriptor could be reused,
                // and this thread would accept another listener's connections.
                guard socket >= 0 else {
                    // `deinit` shuts the listener down, which is the only final error. Too many open files are not.
                    if errno == EINVAL {
                        close(listener)
                        return
                    }
                    sched_yield()
                    continue
                }
                Thread.detachNewThread {
                    let connection = LoopbackConnection(socket)
                    handler(connection)
                    connection.close()
                }
            }
        }
    }

    /// Creates a server that answers every request with the result of `respond`.
    static func answering(_ respond: @escaping @Sendable (LoopbackRequest) -> String) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = connection.readRequest() {
                guard connection.write(respond(request)) else { return }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}

struct LoopbackRequest: Sendable {
    var head: String
    var body: String

    /// The request line.
    var line: String { head.components(separatedBy: "\r\n")[0] }

    func header(_ name: String) -> String? {
        head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}

/// One accepted connection. Only its own thread uses it.
final class LoopbackConnection {
    private let socket: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true

    init(_ socket: Int32) {
        self.socket = socket
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    func close() {
        if isOpen { Glibc.close(socket) }
        isOpen = false
    }

    /// Closes the connection with RST.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func readRequest() -> LoopbackRequest? {
        while true {
            let text = String(decoding: buffer, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = String(text[..<end.lowerBound])
                var request = LoopbackRequest(head: head, body: "")
                let length = request.header("content-length").flatMap(Int.init) ?? 0
                let total = head.utf8.count + 4 + length
                if buffer.count >= total {
                    request.body = String(decoding: buffer[(head.utf8.count + 4)..<total], as: UTF8.self)
                    buffer.removeFirst(total)
                    return request
                }
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            buffer.append(contentsOf: chunk[..<count])
        }
    }

    /// The next line without its end; `nil` when the peer has closed the connection.
    func readLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                buffer.removeFirst(end + 1)
                return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            buffer.append(contentsOf: chunk[..<count])
        }
    }

    /// Writes a text; `false` when the peer has closed the connection.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Waits at most `milliseconds` (-1: no limit) for the peer to close, and returns whether it did.
    func waitForClose(milliseconds: Int32 = -1) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, milliseconds) > 0 else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, 0) <= 0
    }
}

/// A response with `Content-Length`.
func answer(_ status: String = "200 OK", headers: [String] = [], body: String = "") -> String {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}

/// A counter shared by threads.
final class Tally: Sendable {
    private let lock = NSLock()
    /// Guarded by `lock`.
    nonisolated(unsafe) private var current = 0
    /// Guarded by `lock`.
    nonisolated(unsafe) private var largest = 0

    var value: Int { lock.withLock { current } }
    var peak: Int { lock.withLock { largest } }

    func add(_ amount: Int) {
        lock.withLock {
            current += amount
            largest = max(largest, current)
        }
    }
}

/// A queue of events that threads report and a test awaits.
struct Events<Element: Sendable>: Sendable {
    let stream: AsyncStream<Element>
    let report: AsyncStream<Element>.Continuation

    init(of type: Element.Type = Element.self) {
        (stream, report) = AsyncStream.makeStream(of: type)
    }

    /// Waits for the next event.
    func next() async -> Element? {
        for await element in stream { return element }
        return nil
    }
}
