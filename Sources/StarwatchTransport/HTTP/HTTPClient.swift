import CCurl
import Glibc
package import StarwatchCore

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
    /// - Throws: ``APIFailure`` when a certificate file is unusable or the thread cannot be created.
    package init(
        options: HTTPClientOptions = HTTPClientOptions(),
        clock: @escaping @Sendable () -> ClockReading
    ) throws(APIFailure) {
        driver = try CurlDriver(options: options, clock: clock)
    }

    deinit { driver.shutdown() }

    package var executor: (any TaskExecutor)? { driver }

    /// Sends `request` and waits for the complete response, whatever its status.
    ///
    /// Cancelling the task closes the connection immediately, that of a mail within a second; the result is then
    /// ``APIFailure/cancelled``.
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
    /// Blocks the caller for well under a millisecond. Later requests end as cancelled. Further calls do nothing. A client for
    /// mails does not wait for its thread, whose requests end within a second.
    package func shutdown() { driver.shutdown() }
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

/// Sends HTTP requests and returns their responses.
///
/// ``HTTPClient`` is the implementation that uses the network.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and waits for the complete response, whatever its status.
    ///
    /// When the task is cancelled the result is ``APIFailure/cancelled``.
    func exchange(_ request: HTTPRequest) async -> HTTPExchange

    /// The executor on which an answer arrives, so that what follows it needs no change of threads; `nil` for the
    /// runtime's threads. Work on it must neither block nor take long; see ``Offload``.
    var executor: (any TaskExecutor)? { get }

    /// Ends every request in progress, and every later request, as cancelled. Further calls do nothing.
    func shutdown()
}

extension HTTPTransport {
    package var executor: (any TaskExecutor)? { nil }
}

/// Work that blocks or takes long, away from the executor of an ``HTTPTransport``.
package enum Offload {
    /// The size of an answer, in bytes, from which decoding it is long work: a fraction of a millisecond.
    package static let longAnswer = 64 << 10

    /// The executor of a simulation; `nil` for the runtime's threads.
    @TaskLocal package static var replacement: (any TaskExecutor)?

    package static var executor: any TaskExecutor { replacement ?? globalConcurrentExecutor }

    /// Whether the present task says where it runs. Another one could leave an actor on a transport's thread, which takes the
    /// jobs of other tasks along while it works for one: what a host program does then would hold up every request.
    package static var isChosen: Bool { withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil } }

    /// Runs `work` on the runtime's threads, and returns to the caller's executor.
    ///
    /// - Parameter work: `@concurrent`, because other functions stay on the caller's executor.
    package static func run<Value: Sendable, Failure: Error>(
        _ work: @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(executor, operation: work)
    }
}

/// Connection settings, common to all requests of a client.
package struct HTTPClientOptions: Sendable {
    /// A PEM file of additional trust anchors; `nil` for none. With it libcurl parses all anchors for every new
    /// connection (about 20 ms of CPU), because it only caches anchors from a single file.
    package var caFile: String?
    /// The setting that names ``caFile``, for errors.
    package var caSetting = "server.ca_file"
    /// Pinned keys in libcurl's syntax: `sha256//…`, several separated by `;`. `nil` disables pinning.
    package var pinnedPublicKey: String?
    /// The proxy of every request, `http://host:port` or of scheme `https` or `socks5h`; ``environmentProxy`` for that of the
    /// process's environment. `nil`, the default: none, whatever the environment says.
    package var proxy: String?
    /// `HTTPS_PROXY` and `NO_PROXY` of the environment decide.
    package static let environmentProxy = "environment"
    /// The login at ``proxy``; `nil` for one that wants none.
    package var proxyLogin: ProxyLogin?
    /// Limit of concurrent requests. Further requests wait.
    package var maxInFlight = 256
    /// The number of requests of one of libcurl's handles. Others use further handles, with connections of their own; see
    /// ``CurlShard``.
    package var requestsPerHandle = 32
    /// Limit of concurrent name lookups in this process, including hanging lookups whose request has ended. A request
    /// beyond the limit fails immediately with ``APIFailure/dns``.
    package var maxLookups = 16
    /// Limit for connecting, including name lookup and TLS handshake; a request's own timeout can be shorter. It
    /// classifies a server that does not accept connections as a network failure.
    package var connectTimeout = Duration.seconds(10)

    /// Whether the client sends mails, and nothing else.
    ///
    /// Until a mail server replies to the message, and to the end of a connection, libcurl does not return, and nothing else
    /// moves on the client's thread (libcurl 7.88.1: 4.0 s for a reply after 4 s, 120 s for none). It only asks once a second
    /// whether the mail was cancelled. So a mail that is sent by another client ends as ``APIFailure/invalidRequest``.
    package var isForMails = false
    /// The limit for each reply of a mail server. Only this one holds for the reply to the end of a connection.
    package var longestReplySeconds = 50
    /// The time for which the connection of a mail can be used again. A server that closes it says so first, and libcurl would
    /// take that for the reply to the next mail.
    package var longestIdleSeconds = 5
    /// The life of a connection, after which the next request opens another one. Only a new one looks up the host's address, so a
    /// server that moves would else keep clients that never pause. libcurl itself closes one that was idle for 118 s.
    package var longestConnectionSeconds = 90
    /// Whether a connection is kept for later requests. On a kept one that the server closes meanwhile, a request fails
    /// or is sent twice.
    package var keepsConnections = true
    /// The Unix socket to connect to, whatever host a URL names; `nil` for TCP.
    package var socketPath: String?
    /// Accepts the user of the process that listens on the Unix socket, before a request is sent; its argument is `nil`
    /// if the system does not tell the user. For connections that are not kept. `nil` accepts every process.
    package var acceptsPeer: (@Sendable (UInt32?) -> Bool)?

    package init(
        caFile: String? = nil,
        pinnedPublicKey: String? = nil,
        socketPath: String? = nil,
        maxInFlight: Int = 256
    ) {
        (self.caFile, self.socketPath, self.pinnedPublicKey) = (caFile, socketPath, pinnedPublicKey)
        self.maxInFlight = maxInFlight
    }

    /// The system's CA bundle: the first readable of the paths that distributions use; `nil` when there is none.
    var bundle: String? {
        [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ].first { access($0, R_OK) == 0 }
    }
}
