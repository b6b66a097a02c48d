import FoundationEssentials
import Hummingbird
import Starwatch
import StarwatchCore

/// The answer of a route.
struct Answer: Sendable {
    var status = 200
    /// The headers; those of every answer unless a route changes them.
    var headers: HTTPFields = [
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff",
        .xFrameOptions: "DENY",
        .referrerPolicy: "no-referrer",
    ]
    var body: [UInt8]
    /// Returns the next piece of a stream that follows ``body``; `nil` at its end.
    var stream: (@Sendable () async -> String?)?
    /// Called when the connection closes, before or after the end of the answer.
    var whenClosed: (@Sendable () -> Void)?

    init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.body = body
        headers[.contentType] = contentType
    }

    /// `value` as JSON with sorted keys.
    static func json(_ value: some Encodable, status: Int = 200) -> Answer {
        guard let data = try? ControlJSON.encode(value) else {
            // Only an infinite number can cause this, and that would be a bug.
            return .error(500, "failed", "The answer cannot be written as JSON; please report this.")
        }
        return Answer(status: status, contentType: "application/json", body: Array(data))
    }

    static func error(_ status: Int, _ kind: String, _ message: String) -> Answer {
        json(ControlErrorBody(kind: kind, message: message), status: status)
    }

    static var noSuchPage: Answer {
        .error(404, "not_found", "There is no such page; what there is, is linked from /.")
    }

    static func error(_ error: ControlError) -> Answer {
        let status =
            switch error.kind {
            case .notFound: 404
            case .invalid: 400
            case .conflict: 409
            case .busy: 503
            case .failed, .unreachable, .timedOut, .hungUp, .unintelligible, .cancelled: 500
            }
        return .error(status, error.kind.rawValue, error.message)
    }

    /// An HTML page. Its policy lets only its own style and script run.
    ///
    /// - Parameter canControl: Whether forms and scripts can send requests to this server.
    static func page(_ frame: PageFrame, canControl: Bool, dashboards: String?) -> Answer {
        var random = SystemRandomNumberGenerator()
        let nonce = String(random.next(), radix: 36) + String(random.next(), radix: 36)
        let page = frame.html(nonce: nonce, canControl: canControl, dashboards: dashboards)
        var answer = Answer(contentType: "text/html; charset=utf-8", body: Array(page.text.utf8))
        let own = canControl ? "'self'" : "'none'"
        answer.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; img-src data:; "
            + "base-uri 'none'; connect-src \(own); form-action \(own); frame-ancestors 'none'"
        // Without a referrer a browser also hides the form's origin, which the control routes require.
        if canControl { answer.headers[.referrerPolicy] = "same-origin" }
        return answer
    }

    /// Adds the headers of a web configuration. One replaces the agent's own, except that of a content security policy:
    /// pages need theirs, and a browser obeys both.
    mutating func add(_ fields: HTTPFields) {
        for field in fields {
            if field.name == .contentSecurityPolicy { headers.append(field) } else { headers[field.name] = field.value }
        }
    }

    /// The answer on the wire. A `HEAD` keeps the length of what `GET` would have sent.
    func response(withoutBody: Bool) -> Response {
        var fields = headers
        if stream == nil { fields[.contentLength] = String(body.count) }
        return Response(status: .init(code: status), headers: fields, body: withoutBody ? .init() : content)
    }

    private var content: ResponseBody {
        guard let stream else { return ResponseBody(byteBuffer: ByteBuffer(bytes: body)) }
        return ResponseBody { [body] writer in
            try await writer.write(ByteBuffer(bytes: body))
            while let text = await stream() { try await writer.write(ByteBuffer(string: text)) }
            try await writer.finish(nil)
        }
    }
}

extension HTTPFields.Element.Name {
    fileprivate static let xFrameOptions = Self("X-Frame-Options")!
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
}

extension Answer {
    /// A page of the feed; without a body if the reader has this page already.
    static func feed(_ document: FeedDocument, for call: Call) -> Answer {
        let known = call.headers[.ifNoneMatch]?.split(separator: ",").map { tag in
            tag.drop { $0 == " " }.replacing("W/", with: "")
        }
        let text = Array(document.text.utf8)
        let tag = FeedDocument.tag(of: text)
        let isKnown = known?.contains { $0 == tag || $0 == "*" } ?? false
        var answer = Answer(
            status: isKnown ? 304 : 200,
            contentType: document.format.contentType,
            body: isKnown ? [] : text
        )
        answer.headers[.eTag] = tag
        // A reader can keep it, and asks whether it is still good.
        answer.headers[.cacheControl] = "private, no-cache"
        if document.format == .json { answer.headers[.vary] = "Host, X-Forwarded-Prefix, X-Forwarded-Proto" }
        return answer
    }
}
