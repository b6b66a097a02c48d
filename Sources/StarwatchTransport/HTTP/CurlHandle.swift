import CCurl
import StarwatchCore

/// The settings of an easy handle: those of every request once, those of one request each time.
enum CurlHandle {
    /// A handle with everything set that is the same for all requests; `nil` when libcurl has no memory.
    static func make(options: HTTPClientOptions, anchors: TrustAnchors) -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        _ = starwatch_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it a name lookup that hangs blocks the thread, and with it every other request.
        _ = starwatch_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        _ = starwatch_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = starwatch_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        _ = starwatch_set_string(easy, CURLOPT_PROXY, "")
        _ = starwatch_set_string(easy, CURLOPT_ACCEPT_ENCODING, "gzip")
        _ = starwatch_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        _ = starwatch_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        _ = starwatch_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        _ = starwatch_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // A CA directory, which Debian builds in, turns off libcurl's cache of parsed anchors.
        _ = starwatch_set_string(easy, CURLOPT_CAPATH, nil)
        if let blob = anchors.blob {
            _ = starwatch_set_blob(easy, CURLOPT_CAINFO_BLOB, blob.baseAddress, blob.count)
        } else if let path = anchors.path {
            _ = starwatch_set_string(easy, CURLOPT_CAINFO, path)
        }
        if let pin = options.pinnedPublicKey { _ = starwatch_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) }
        if let path = options.socketPath { _ = starwatch_set_string(easy, CURLOPT_UNIX_SOCKET_PATH, path) }
        if !options.keepsConnections { _ = starwatch_set_long(easy, CURLOPT_FORBID_REUSE, 1) }
        _ = starwatch_set_callback(easy, CURLOPT_WRITEFUNCTION, starwatchReceiveBody)
        _ = starwatch_set_callback(easy, CURLOPT_HEADERFUNCTION, starwatchReceiveHeader)
        _ = starwatch_set_lookup_callback(easy, starwatchBeginLookup)
        return easy
    }

    /// Sets what is particular to one request. The handle points to `transfer`, which must outlive its use.
    static func prepare(
        _ easy: UnsafeMutableRawPointer,
        for transfer: CurlTransfer,
        options: HTTPClientOptions,
        timeout: Duration?
    ) {
        let request = transfer.request
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        _ = starwatch_set_pointer(easy, CURLOPT_PRIVATE, context)
        _ = starwatch_set_pointer(easy, CURLOPT_WRITEDATA, context)
        _ = starwatch_set_pointer(easy, CURLOPT_HEADERDATA, context)
        _ = starwatch_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, context)
        _ = starwatch_set_string(easy, CURLOPT_URL, request.url)
        // 0 means no limit.
        let limit = timeout.map { Int(clamping: max($0.wholeMilliseconds, 1)) } ?? 0
        _ = starwatch_set_long(easy, CURLOPT_TIMEOUT_MS, limit)
        let connectTimeout = min(options.connectTimeout, timeout ?? options.connectTimeout)
        _ = starwatch_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: max(connectTimeout.wholeMilliseconds, 1)))
        let sizeLimit = request.onBody == nil ? request.maxResponseBytes : 0
        _ = starwatch_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(sizeLimit))

        var hasContentType = false
        for header in request.headers {
            append(header.value.isEmpty ? header.name + ";" : header.name + ": " + header.value, to: transfer)
            if header.name.utf8.count == 12, header.name.lowercased() == "content-type" { hasContentType = true }
        }
        switch request.method {
        case .get:
            _ = starwatch_set_long(easy, CURLOPT_HTTPGET, 1)
        case .delete:
            _ = starwatch_set_long(easy, CURLOPT_HTTPGET, 1)
            _ = starwatch_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        case .post, .put:
            // Without these libcurl would wait for a "100 Continue" and call every body a form.
            append("Expect:", to: transfer)
            if !hasContentType { append("Content-Type:", to: transfer) }
            let body = request.body ?? []
            _ = starwatch_set_long(easy, CURLOPT_POST, 1)
            if request.method == .put { _ = starwatch_set_string(easy, CURLOPT_CUSTOMREQUEST, "PUT") }
            _ = starwatch_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                _ = bytes.withMemoryRebound(to: CChar.self) { text in
                    // An empty array may have no address, and NULL would mean a read callback.
                    text.isEmpty
                        ? starwatch_set_string(easy, CURLOPT_COPYPOSTFIELDS, "")
                        : starwatch_set_string(easy, CURLOPT_COPYPOSTFIELDS, text.baseAddress)
                }
            }
        }
        _ = starwatch_set_list(easy, CURLOPT_HTTPHEADER, transfer.headerList)
    }

    /// Takes back what ``prepare(_:for:options:timeout:)`` gave, so that an idle handle holds no token and no body.
    static func release(_ easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) {
        _ = starwatch_set_pointer(easy, CURLOPT_PRIVATE, nil)
        _ = starwatch_set_list(easy, CURLOPT_HTTPHEADER, nil)
        if transfer.request.method.hasBody { _ = starwatch_set_string(easy, CURLOPT_COPYPOSTFIELDS, nil) }
        // The handle is used again: its next GET would be a DELETE.
        _ = starwatch_set_string(easy, CURLOPT_CUSTOMREQUEST, nil)
        curl_slist_free_all(transfer.headerList)
        transfer.headerList = nil
        transfer.easy = nil
    }

    private static func append(_ line: String, to transfer: CurlTransfer) {
        transfer.headerList = curl_slist_append(transfer.headerList, line) ?? transfer.headerList
    }
}

extension HTTPError {
    /// What a code of libcurl's means. Its texts are not used: they can name hosts and paths.
    ///
    /// A time limit that passed before the request could be sent says that the network is down, and not that the server
    /// is slow.
    init(_ code: CURLcode, _ info: starwatch_transfer_info, of transfer: CurlTransfer) {
        switch code {
        case _ where transfer.isTooLarge, CURLE_FILESIZE_EXCEEDED: self = .tooLarge
        case _ where transfer.isLookupRefused: self = .dns
        case CURLE_OPERATION_TIMEDOUT where info.pre_transfer == 0:
            self = info.name_lookup == 0 ? .dns : info.connect == 0 ? .connect : .tls
        case CURLE_OPERATION_TIMEDOUT: self = .timeout
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .dns
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: self = .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
            self = .tls
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT: self = .invalidRequest
        // The scheme was looked at before, so an unsupported protocol is an answer without a head ("HTTP/0.9").
        // And libcurl calls it a lack of memory when a line of a head is longer than it takes.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_UNSUPPORTED_PROTOCOL,
            CURLE_OUT_OF_MEMORY:
            self = .malformed
        default: self = .reset
        }
    }
}
