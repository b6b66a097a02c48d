import StarwatchCore

/// Sends requests to one Endorser server, with the headers it wants, and says what came of them.
///
/// It does not retry, wait or decode: one call is one request.
package struct EndorserClient: Sendable {
    private let http: any HTTPTransport
    private let baseURL: String
    private let clientVersion: String
    private let userAgent: String
    private let timeout: Duration
    private let maxResponseBytes: Int

    /// - Parameters:
    ///   - baseURL: Scheme, host, port and perhaps a path; slashes at its end are left out.
    ///   - clientVersion: `X-Client-Version` (R-REQ-02).
    ///   - userAgent: `nil` for the same as `clientVersion`.
    ///   - timeout: From the call to the last byte.
    ///   - maxResponseBytes: After decompression.
    package init(
        http: any HTTPTransport,
        baseURL: String,
        clientVersion: String,
        userAgent: String? = nil,
        timeout: Duration = .seconds(30),
        maxResponseBytes: Int = 10 * 1024 * 1024
    ) {
        self.http = http
        var baseURL = baseURL[...]
        while baseURL.last == "/" { baseURL.removeLast() }
        self.baseURL = String(baseURL)
        self.clientVersion = clientVersion
        self.userAgent = userAgent ?? clientVersion
        self.timeout = timeout
        self.maxResponseBytes = maxResponseBytes
    }

    /// Sends `request` once and waits for its end. Cancelling the task aborts it; the failure then is `cancelled`.
    package func send(_ request: EndorserRequest) async -> Exchange {
        let exchange = await http.exchange(makeRequest(request))
        let receivedAt = exchange.measurements.receivedAt.wall
        return Exchange(exchange) { response in
            AnswerClassifier.classify(
                status: response.status,
                headers: response.headers,
                body: response.body,
                now: receivedAt
            )
        }
    }

    private func makeRequest(_ request: EndorserRequest) -> HTTPRequest {
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(7)
        headers.append(("User-Agent", userAgent))
        headers.append(("Accept", "application/json"))
        if let token = request.token {
            // The endorser server takes any other spelling of "Bearer" for no token at all.
            headers.append(("Authorization", "Bearer " + token.rawValue))
        }
        headers.append(("X-Request-ID", request.requestID))
        headers.append(("X-Client-Version", clientVersion))
        if request.method == .post {
            headers.append(("Content-Type", "application/json"))
            if let key = request.idempotencyKey { headers.append(("X-Idempotency-Key", key)) }
        }
        headers += request.traceHeaders
        return HTTPRequest(
            method: request.method,
            url: url(of: request),
            headers: headers,
            body: request.body,
            timeout: timeout,
            maxResponseBytes: maxResponseBytes
        )
    }

    private func url(of request: EndorserRequest) -> String {
        var url = baseURL + request.endpoint.path
        for (index, item) in request.query.enumerated() {
            url += index == 0 ? "?" : "&"
            url += PercentEncoding.encode(item.0) + "=" + PercentEncoding.encode(item.1)
        }
        return url
    }
}

/// Percent-encoding of everything but RFC 3986's unreserved characters.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    package static func encode(_ text: String) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                output.append(byte)
            default:
                output.append(UInt8(ascii: "%"))
                output.append(digits[Int(byte >> 4)])
                output.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
