/// One complete HTTP request. The client adds only the headers that HTTP itself requires.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"

        /// Whether a body is sent.
        var hasBody: Bool { self == .post || self == .put }
    }

    package var method: Method
    /// An `http:` or `https:` URL, or `smtp:` or `smtps:` for a mail. Any other scheme fails with
    /// ``APIFailure/invalidRequest``.
    package var url: String
    /// Headers in the order of sending. A line break or a character outside printable ASCII fails with
    /// ``APIFailure/invalidRequest``.
    package var headers: [(name: String, value: String)]
    /// The body; sent with POST and PUT only.
    package var body: [UInt8]?
    /// Limit from the call to the last byte of the response, including the wait for a free slot; 30 s. `nil`: no
    /// limit.
    package var timeout: Duration?
    /// Limit of the decompressed response body; 10 MiB.
    package var maxResponseBytes: Int
    /// Takes the body of a 2xx answer piece by piece, which is then left out of the response and has no size limit.
    ///
    /// Called on the client's thread, so it must not wait.
    package var onBody: (@Sendable (_ piece: [UInt8]) -> Void)?

    /// The envelope of a mail, whose message is ``body``; `nil` for a request of HTTP.
    package private(set) var envelope: MailEnvelope?

    /// A mail, sent by SMTP. The response has the code of the server's reply as its status, and the reply as its body.
    ///
    /// - Parameter mail: The message; `nil` only connects and logs in.
    package init(mail: [UInt8]?, envelope: MailEnvelope, url: String, timeout: Duration) {
        self.init(method: .post, url: url, body: mail, timeout: timeout)
        self.envelope = envelope
    }

    package init(
        method: Method = .get,
        url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        timeout: Duration? = .seconds(30),
        maxResponseBytes: Int = 10 * 1024 * 1024
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.timeout, self.maxResponseBytes) = (timeout, maxResponseBytes)
    }

    /// Whether libcurl can send this request without header injection or a truncated URL.
    var isWellFormed: Bool {
        guard Self.every(url, Bytes.url) else { return false }
        if let envelope {
            return (Self.hasScheme("smtp://", url) || Self.hasScheme("smtps://", url)) && envelope.isWellFormed
        }
        guard Self.hasScheme("http://", url) || Self.hasScheme("https://", url) else { return false }
        return headers.allSatisfy { header in
            !header.name.isEmpty && Self.every(header.name, Bytes.name) && Self.every(header.value, Bytes.value)
        }
    }

    /// Sets of bytes as tables, because a chain of comparisons takes ten times the instructions.
    private enum Bytes {
        static let url = table { $0 > 32 && $0 != 127 }
        /// The characters of a token (RFC 9110).
        static let name = table { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
        static let value = table { (32...126).contains($0) || $0 == 9 }

        private static func table(_ contains: (UInt8) -> Bool) -> [Bool] { (0...255).map(contains) }
    }

    /// Returns whether every byte is in the set. A string's bytes take a third of the instructions that its UTF-8 view takes.
    private static func every(_ text: String, _ set: [Bool]) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            set.withUnsafeBufferPointer { set in bytes.allSatisfy { set[Int($0)] } }
        }
    }

    /// Returns whether the host of a URL is an IP address, which needs no lookup. Also `true` for some invalid hosts.
    static func hasNumericHost(_ url: String) -> Bool {
        let host = url.utf8.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
            .prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "?") }
        return host.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
            || host.first == UInt8(ascii: "[")
    }

    private static func hasScheme(_ scheme: StaticString, _ url: String) -> Bool {
        var url = url
        return url.withUTF8 { url in
            scheme.withUTF8Buffer { scheme in
                url.count >= scheme.count && scheme.indices.allSatisfy { url[$0] | 32 == scheme[$0] | 32 }
            }
        }
    }
}
