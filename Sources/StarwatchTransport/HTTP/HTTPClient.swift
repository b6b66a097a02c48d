import CCurl

/// Sends HTTP requests through libcurl: one multi handle on a thread of its own, with a shared connection pool.
///
/// It follows no redirects, ignores the environment's proxy settings and supports no scheme except `http` and `https`, and
/// for mails `smtp` and `smtps`.
/// Any number of tasks may use it concurrently.
package final class HTTPClient: HTTPTransport {
    private let driver: CurlDriver

    /// Starts the client's thread.
    ///
    /// - Parameters:
    ///   - options: Trust, pinning and concurrency limits.
    ///   - clock: Reads both clocks. Called on the client's thread and on the caller's.
    /// - Throws: ``HTTPError/configuration(_:)`` when a certificate file is unusable or the thread cannot be created.
    package init(
        options: HTTPClientOptions = HTTPClientOptions(),
        clock: @escaping @Sendable () -> ClockReading
    ) throws(HTTPError) {
        driver = try CurlDriver(options: options, clock: clock)
    }

    deinit { driver.shutdown() }

    package var executor: (any TaskExecutor)? { driver }

    /// Sends `request` and waits for the complete response, whatever its status.
    ///
    /// Cancelling the task closes the connection immediately; the result is then ``HTTPError/cancelled``.
    package func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        let id = driver.reserve()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { driver.submit(request, id: id, continuation: $0) }
        } onCancel: {
            driver.cancel(id)
        }
    }

    /// Ends every request in progress as cancelled, closes the connections and waits for the thread to end.
    ///
    /// Blocks the caller for well under a millisecond. Later requests end as cancelled. Further calls do nothing.
    package func shutdown() {
        driver.shutdown()
    }
}

/// The version of libcurl in use.
package enum CurlVersion {
    /// Such as `7.88.1`.
    package static var current: String? { libraries.first?.version }

    /// libcurl and the libraries that it uses, such as OpenSSL, zlib and nghttp2, with their versions.
    package static var libraries: [(name: String, version: String)] {
        guard let text = curl_version() else { return [] }
        return parse(String(cString: text))
    }

    /// Whether it can send mails. A distribution can leave it out, such as Fedora's `libcurl-minimal`.
    package static var hasMail: Bool { starwatch_has_protocol("smtps") != 0 }

    /// The sentence for a libcurl that cannot send mails.
    package static let adviceWithoutMail =
        "needs a libcurl with SMTP, which this machine's has not; install the full libcurl (Fedora: dnf swap libcurl-minimal libcurl)."

    /// Reads a text such as `libcurl/7.88.1 OpenSSL/3.0.19 libpsl/0.21.2 (+libidn2/2.3.3)`.
    static func parse(_ text: String) -> [(name: String, version: String)] {
        text.split(separator: " ").compactMap { word in
            let parts = word.split(separator: "/", maxSplits: 1)
            guard parts.count == 2, !word.hasPrefix("(") else { return nil }
            return (String(parts[0]), String(parts[1]))
        }
    }
}
