import Crypto
import Foundation

/// A response and its delivery.
struct Reply: Sendable {
    /// The way a response is sent.
    enum Delivery: Sendable {
        case whole
        /// The response has no declared length.
        case chunked
        case drip(chunkBytes: Int, every: Duration)
        /// The connection is reset, optionally after the head and a part of the body.
        case reset(headFirst: Bool, bodyBytes: Int)
        /// A JSON text of about this many bytes replaces ``Reply/body``.
        case filler(bytes: Int, declaresLength: Bool)
        case never
        /// ``Reply/body`` is sent without a head.
        case raw(then: MockRawEnding)
    }

    var status: Int
    var headers: [(String, String)] = []
    var body: [UInt8] = []
    var delivery = Delivery.whole
    /// Delay between the request and the response's first byte.
    var delay = Duration.zero

    /// A response with a JSON body and Express's content type.
    static func json(_ status: Int, _ value: JSONValue) -> Reply {
        Reply(status: status, headers: [("Content-Type", "application/json; charset=utf-8")], body: value.bytes)
    }

    /// A response with an HTML body, like Express's own errors.
    static func html(_ status: Int, _ text: String) -> Reply {
        Reply(status: status, headers: [("Content-Type", "text/html; charset=utf-8")], body: Array(text.utf8))
    }

    /// Applies a fault that affects the delivery of a regular response.
    mutating func add(_ fault: MockFault?) {
        switch fault {
        case .delay(let time): delay += time
        case .dripBody(let chunkBytes, let interval):
            delivery = .drip(chunkBytes: max(1, chunkBytes), every: interval)
        case .resetMidBody(let bytes): delivery = .reset(headFirst: true, bodyBytes: bytes)
        case .unreadableItem(let id) where String(decoding: body, as: UTF8.self).contains(id):
            body.removeLast(body.count / 2)
        case .commitThenReset: delivery = .reset(headFirst: false, bodyBytes: 0)
        default: break
        }
    }

    /// Adds Express's weak ETag of the body. A GET with a matching `If-None-Match` becomes a 304.
    mutating func addETag(for request: IncomingRequest) {
        let digest = Data(Insecure.SHA1.hash(data: body)).base64EncodedString().prefix(27)
        let tag = "W/\"\(String(body.count, radix: 16))-\(digest)\""
        headers.append(("ETag", tag))
        guard request.method == "GET", status == 200, let known = request.header("If-None-Match") else { return }
        let bare = tag.dropFirst(2)
        let matches = known.split(separator: ",").contains { entry in
            let text = entry.trimmingCharacters(in: .whitespaces)
            return text == "*" || text == tag || text == bare
        }
        if matches { becomeNotModified() }
    }

    /// Adds the time of the last change, in Unix seconds. A GET whose only validator is that time becomes a 304.
    mutating func addLastModified(_ seconds: Int, for request: IncomingRequest) {
        let time = ClockText.http(seconds)
        headers.append(("Last-Modified", time))
        guard request.method == "GET", status == 200, request.header("If-None-Match") == nil,
            request.header("If-Modified-Since") == time
        else { return }
        becomeNotModified()
    }

    private mutating func becomeNotModified() {
        status = 304
        body = []
        headers.removeAll { $0.0 == "Content-Type" }
    }
}
