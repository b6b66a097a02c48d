import CCurl
import StarwatchCore

/// The settings of an easy handle: common ones are set once, a request's own each time.
enum CurlHandle {
    /// Creates a handle with the settings common to all requests; `nil` when libcurl is out of memory or does not
    /// support the configured trust.
    ///
    /// The result codes of the other options are ignored: every supported version of libcurl has them.
    static func make(
        options: HTTPClientOptions,
        anchors: TrustAnchors,
        sockets: SocketPoller
    ) -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        _ = starwatch_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it a hanging name lookup blocks the thread and every other request.
        _ = starwatch_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        _ = starwatch_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = starwatch_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        setProxy(easy, options.proxy, options.proxyLogin)
        _ = starwatch_set_string(easy, CURLOPT_ACCEPT_ENCODING, HeaderLines.encoding)
        _ = starwatch_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        _ = starwatch_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        _ = starwatch_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        _ = starwatch_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // A new connection takes 0.05 ms of CPU time more for each certificate of its chain (libcurl 7.88 alone, 2 cores AMD
        // EPYC), and one that is used again nothing.
        _ = starwatch_set_long(easy, CURLOPT_CERTINFO, 1)
        // Debian builds in a CA directory, which disables libcurl's cache of parsed anchors.
        _ = starwatch_set_string(easy, CURLOPT_CAPATH, nil)
        var isTrustSet = true
        if let blob = anchors.blob {
            isTrustSet = starwatch_set_blob(easy, CURLOPT_CAINFO_BLOB, blob.baseAddress, blob.count) == CURLE_OK
        } else if let path = anchors.path {
            isTrustSet = starwatch_set_string(easy, CURLOPT_CAINFO, path) == CURLE_OK
        }
        if let pin = options.pinnedPublicKey {
            isTrustSet = starwatch_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) == CURLE_OK && isTrustSet
        }
        // A request without its pin or anchors would trust servers that the operator excluded.
        guard isTrustSet else {
            curl_easy_cleanup(easy)
            return nil
        }
        if let path = options.socketPath { _ = starwatch_set_string(easy, CURLOPT_UNIX_SOCKET_PATH, path) }
        _ = starwatch_set_long(easy, CURLOPT_MAXLIFETIME_CONN, options.longestConnectionSeconds)
        if !options.keepsConnections { _ = starwatch_set_long(easy, CURLOPT_FORBID_REUSE, 1) }
        _ = starwatch_set_callback(easy, CURLOPT_WRITEFUNCTION, starwatchReceiveBody)
        _ = starwatch_set_callback(easy, CURLOPT_HEADERFUNCTION, starwatchReceiveHeader)
        _ = starwatch_set_lookup_callback(easy, starwatchBeginLookup)
        sockets.follow(easy)
        if options.acceptsPeer != nil {
            starwatch_set_socket_callbacks(easy, starwatchOpenSocket, starwatchAcceptPeer)
        }
        return easy
    }

    /// The expiries of the certificates that a new connection's server sent, its own first; `nil` for one that is not known.
    static func expiries(_ easy: UnsafeMutableRawPointer) -> [Timestamp?] {
        guard let certificates = starwatch_get_certificates(easy)?.pointee, let chain = certificates.certinfo else {
            return []
        }
        return (0..<Int(certificates.num_of_certs)).map { index in
            var line = chain[index]
            while let field = line?.pointee {
                let text = field.data.map { String(cString: $0) } ?? ""
                if text.hasPrefix(expiryField) {
                    return Certificate.date(String(text.dropFirst(expiryField.count)))
                }
                line = field.next
            }
            return nil
        }
    }

    private static let expiryField = "Expire date:"

    private static func setProxy(_ easy: UnsafeMutableRawPointer, _ proxy: String?, _ login: ProxyLogin?) {
        // The proxy's own answer is not the server's.
        _ = starwatch_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let login {
            _ = starwatch_set_string(easy, CURLOPT_PROXYUSERNAME, login.user)
            _ = starwatch_set_string(easy, CURLOPT_PROXYPASSWORD, login.password)
        }
        guard proxy != HTTPClientOptions.environmentProxy else { return }
        _ = starwatch_set_string(easy, CURLOPT_PROXY, proxy ?? "")
        // Not that of the environment. This machine needs no proxy to reach itself; libcurl reads a list for each request.
        _ = starwatch_set_string(easy, CURLOPT_NOPROXY, proxy == nil ? "*" : "localhost,127.0.0.1,::1")
    }

    /// The options that point to the transfer.
    private static let contexts = [
        CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_RESOLVER_START_DATA,
    ]
    private static let contextsOfPeer = [CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA]

    /// Lets a handle point to its transfer, or to none.
    private static func point(_ easy: UnsafeMutableRawPointer, to transfer: UnsafeMutableRawPointer?, checksPeer: Bool)
    {
        for option in contexts { _ = starwatch_set_pointer(easy, option, transfer) }
        guard checksPeer else { return }
        for option in contextsOfPeer { _ = starwatch_set_pointer(easy, option, transfer) }
    }

    /// Applies the settings of one request. The handle points to `transfer`, which must outlive the handle's use.
    ///
    /// - Returns: `false` if libcurl has no SMTP for a mail.
    static func prepare(
        _ easy: UnsafeMutableRawPointer,
        for transfer: CurlTransfer,
        options: HTTPClientOptions,
        timeout: Duration?
    ) -> Bool {
        let request = transfer.request
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        point(easy, to: context, checksPeer: transfer.acceptsPeer != nil)
        _ = starwatch_set_string(easy, CURLOPT_URL, request.url)
        // 0 means no limit.
        let limit = timeout.map { Int(clamping: max($0.wholeMilliseconds, 1)) } ?? 0
        _ = starwatch_set_long(easy, CURLOPT_TIMEOUT_MS, limit)
        let connectTimeout = min(options.connectTimeout, timeout ?? options.connectTimeout)
        _ = starwatch_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: max(connectTimeout.wholeMilliseconds, 1)))
        if let envelope = request.envelope {
            return prepare(easy, for: transfer, mailing: envelope, options: options)
        }
        let sizeLimit = request.onBody == nil ? request.maxResponseBytes : 0
        _ = starwatch_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(sizeLimit))
        prepareMethodAndBody(easy, of: request)
        let lines = HeaderLines(of: request)
        transfer.lines = lines
        _ = starwatch_set_list(easy, CURLOPT_HTTPHEADER, lines.first)
        return true
    }

    /// The settings of a mail. libcurl doubles the dots at the beginnings of the message's lines.
    private static func prepare(
        _ easy: UnsafeMutableRawPointer,
        for transfer: CurlTransfer,
        mailing envelope: MailEnvelope,
        options: HTTPClientOptions
    ) -> Bool {
        guard starwatch_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps") == CURLE_OK else { return false }
        _ = starwatch_set_long(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, options.longestReplySeconds)
        _ = starwatch_set_long(easy, CURLOPT_MAXAGE_CONN, options.longestIdleSeconds)
        _ = starwatch_set_long(
            easy,
            CURLOPT_USE_SSL,
            Int((envelope.demandsTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue)
        )
        if let login = envelope.login {
            _ = starwatch_set_string(easy, CURLOPT_USERNAME, login.name)
            _ = starwatch_set_string(easy, CURLOPT_PASSWORD, login.password)
        }
        guard let message = transfer.request.body else {
            _ = starwatch_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
            return true
        }
        for recipient in envelope.recipients {
            transfer.list = curl_slist_append(transfer.list, recipient) ?? transfer.list
        }
        _ = starwatch_set_list(easy, CURLOPT_MAIL_RCPT, transfer.list)
        _ = starwatch_set_string(easy, CURLOPT_MAIL_FROM, envelope.sender)
        _ = starwatch_set_long(easy, CURLOPT_UPLOAD, 1)
        _ = starwatch_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(message.count))
        _ = starwatch_set_callback(easy, CURLOPT_READFUNCTION, starwatchSendBody)
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        _ = starwatch_set_pointer(easy, CURLOPT_READDATA, context)
        starwatch_set_progress_callback(easy, starwatchEndMail, context)
        return true
    }

    /// Lets a mail that has failed end where it is. When libcurl removes one in the middle, it sends the end of a message, so
    /// that the server can take a part for the whole, and waits for the reply. It does so only for a mail with receivers.
    static func abandonMail(_ easy: UnsafeMutableRawPointer) {
        _ = starwatch_set_list(easy, CURLOPT_MAIL_RCPT, nil)
    }

    private static func prepareMethodAndBody(_ easy: UnsafeMutableRawPointer, of request: HTTPRequest) {
        switch request.method {
        case .get:
            _ = starwatch_set_long(easy, CURLOPT_HTTPGET, 1)
        case .delete:
            _ = starwatch_set_long(easy, CURLOPT_HTTPGET, 1)
            _ = starwatch_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        case .post, .put:
            let body = request.body ?? []
            _ = starwatch_set_long(easy, CURLOPT_POST, 1)
            if request.method == .put { _ = starwatch_set_string(easy, CURLOPT_CUSTOMREQUEST, "PUT") }
            _ = starwatch_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                _ = bytes.withMemoryRebound(to: CChar.self) { text in
                    // An empty array can have no address, and NULL would select a read callback.
                    text.isEmpty
                        ? starwatch_set_string(easy, CURLOPT_COPYPOSTFIELDS, "")
                        : starwatch_set_string(easy, CURLOPT_COPYPOSTFIELDS, text.baseAddress)
                }
            }
        }
    }

    /// Undoes ``prepare(_:for:options:timeout:)``, so that an idle handle holds no token, no body and no pointer to a
    /// transfer that can be freed. The handle of a mail is not kept: it has a password, and would upload the next request.
    ///
    /// - Returns: The handle for reuse; `nil` if it was closed.
    static func release(_ easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) -> UnsafeMutableRawPointer? {
        defer {
            curl_slist_free_all(transfer.list)
            transfer.lines?.free()
            (transfer.list, transfer.lines) = (nil, nil)
            transfer.easy = nil
        }
        if transfer.request.envelope != nil {
            curl_easy_cleanup(easy)
            return nil
        }
        point(easy, to: nil, checksPeer: transfer.acceptsPeer != nil)
        _ = starwatch_set_list(easy, CURLOPT_HTTPHEADER, nil)
        if transfer.request.method.hasBody { _ = starwatch_set_string(easy, CURLOPT_COPYPOSTFIELDS, nil) }
        // Otherwise the next GET on this handle would be sent as DELETE.
        _ = starwatch_set_string(easy, CURLOPT_CUSTOMREQUEST, nil)
        return easy
    }
}
