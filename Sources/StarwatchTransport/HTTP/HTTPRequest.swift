/// One HTTP request, complete: nothing is added to it but what HTTP itself needs.
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
    /// `http:` or `https:`; every other scheme is refused.
    package var url: String
    /// In the order in which they are sent. A line break, or a character outside printable ASCII, refuses the request.
    package var headers: [(name: String, value: String)]
    /// Sent with POST and PUT only.
    package var body: [UInt8]?
    /// The limit from the call to the last byte of the answer, waiting for a free place included (R-EP-14: 30 s);
    /// `nil` for no limit.
    package var timeout: Duration?
    /// The most bytes of the answer's body, after decompression (R-EP-14: 10 MiB).
    package var maxResponseBytes: Int
    /// Takes the body of a 2xx answer piece by piece, which is then left out of the response and has no size limit.
    ///
    /// Called on the client's thread, so it must not wait.
    package var onBody: (@Sendable (_ piece: [UInt8]) -> Void)?

    package init(
        method: Method = .get,
        url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        timeout: Duration? = .seconds(30),
        maxResponseBytes: Int = 10 * 1024 * 1024
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maxResponseBytes = maxResponseBytes
    }

    /// Whether libcurl can be given this request without a header smuggling in another, or the URL ending early.
    var isWellFormed: Bool {
        guard Self.hasScheme("http://", url) || Self.hasScheme("https://", url),
            url.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
        else { return false }
        return headers.allSatisfy { header in
            !header.name.isEmpty && header.name.utf8.allSatisfy(Self.isToken)
                && header.value.utf8.allSatisfy { (32...126).contains($0) || $0 == 9 }
        }
    }

    /// Whether the host is an address, which needs no lookup. `true` also for some that are no host at all.
    var hasNumericHost: Bool {
        let host = url.utf8.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
            .prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "?") }
        return host.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
            || host.first == UInt8(ascii: "[")
    }

    private static func hasScheme(_ scheme: StaticString, _ url: String) -> Bool {
        var bytes = url.utf8.makeIterator()
        return scheme.withUTF8Buffer { $0.allSatisfy { byte in bytes.next().map { $0 | 32 == byte | 32 } ?? false } }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: byte < 127 && "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
