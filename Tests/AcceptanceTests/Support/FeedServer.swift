import Foundation
import Synchronization

/// A feed of releases on a free port of 127.0.0.1, with an `ETag`. A thread a connection.
final class FeedServer: Sendable {
    private struct State {
        var releases: [(version: String, published: String)] = []
        var validators: [String?] = []
    }

    let port: Int
    private let listener: Int32
    private let state = Mutex(State())

    var url: String { "http://127.0.0.1:\(port)" }
    /// `If-None-Match` of every request, in their order.
    var validators: [String?] { state.withLock(\.validators) }

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw AcceptanceError("no port to listen on") }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                // Only this thread closes the listener: closed by another, its number could be somebody else's already.
                guard connection >= 0 else {
                    close(listener)
                    return
                }
                Thread.detachNewThread { [weak self] in
                    while let request = Self.read(connection), let answer = self?.answer(request) {
                        guard Self.write(answer, to: connection) else { break }
                    }
                    close(connection)
                }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The newest comes first, as feeds have it.
    func publish(_ version: String) {
        state.withLock { state in
            let day = state.releases.count + 1
            state.releases.insert((version, "2026-01-\(day < 10 ? "0" : "")\(day)T12:00:00Z"), at: 0)
        }
    }

    private func answer(_ request: String) -> String {
        let validator = request.firstMatch(of: /(?i)if-none-match: (\S+)/).map { String($0.1) }
        return state.withLock { state in
            state.validators.append(validator)
            let tag = "\"\(state.releases.count)\""
            if validator == tag { return "HTTP/1.1 304 Not Modified\r\nETag: \(tag)\r\n\r\n" }
            let items = state.releases.map { #"{"version":"\#($0.version)","published":"\#($0.published)"}"# }
            let body = #"{"releases":[\#(items.joined(separator: ","))]}"#
            return "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
    }

    private static func read(_ connection: Int32) -> String? {
        var text = ""
        while !text.contains("\r\n\r\n") {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: chunk[..<count], as: UTF8.self)
        }
        return text
    }

    private static func write(_ text: String, to connection: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
