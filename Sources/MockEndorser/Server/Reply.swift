import Crypto
import Foundation

/// An answer, and how it is to go out.
struct Reply: Sendable {
    /// How an answer's bytes reach the client.
    enum Delivery: Sendable {
        case whole
        /// Without a declared length.
        case chunked
        case drip(chunkBytes: Int, every: Duration)
        /// The connection is reset, perhaps after the head and a part of the body.
        case reset(headFirst: Bool, bodyBytes: Int)
        /// A JSON text of about this many bytes, in place of ``Reply/body``.
        case filler(bytes: Int, declaresLength: Bool)
        case never
        /// ``Reply/body`` alone, without a head.
        case raw(then: MockRawEnding)
    }

    var status: Int
    var headers: [(String, String)] = []
    var body: [UInt8] = []
    var delivery = Delivery.whole
    /// How long after the request the answer begins.
    var delay = Duration.zero

    /// An answer with a JSON body, as Express labels it.
    static func json(_ status: Int, _ value: JSONValue) -> Reply {
        Reply(status: status, headers: [("Content-Type", "application/json; charset=utf-8")], body: value.bytes)
    }

    /// An answer with an HTML body, as Express makes them for errors of its own.
    static func html(_ status: Int, _ text: String) -> Reply {
        Reply(status: status, headers: [("Content-Type", "text/html; charset=utf-8")], body: Array(text.utf8))
    }

    /// Applies the part of a fault that concerns an answer already made.
    mutating func add(_ fault: MockFault?) {
        switch fault {
        case .delay(let time): delay += time
        case .dripBody(let chunkBytes, let interval):
            delivery = .drip(chunkBytes: max(1, chunkBytes), every: interval)
        case .resetMidBody(let bytes): delivery = .reset(headFirst: true, bodyBytes: bytes)
        case .commitThenReset: delivery = .reset(headFirst: false, bodyBytes: 0)
        default: break
        }
    }

    /// Adds the weak ETag that Express makes of a body; a GET that names it becomes a 304.
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
        guard matches else { return }
        status = 304
        body = []
        headers.removeAll { $0.0 == "Content-Type" }
    }
}
