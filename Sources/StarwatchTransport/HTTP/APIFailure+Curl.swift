import CCurl
package import StarwatchCore

/// The failures that have a sentence of their own.
extension APIFailure {
    /// The process that listens on the Unix socket belongs to a user that is not accepted.
    package static let peer = APIFailure(.invalidRequest, "Another user's process listens on the socket.")
    /// The mail server refuses the login, or offers none.
    package static let login = APIFailure(
        .noToken,
        failureClass: .refused,
        "The mail server offers no login with a password; leave out username and password_file, or use another."
    )
    /// The server of a mail offers no encryption, which is demanded.
    package static let unencrypted = APIFailure(
        .tls,
        failureClass: .refused,
        "The mail server offers no STARTTLS; use smtps://, or another server."
    )

    /// The client cannot be set up, or not for this request. The text names the setting and the fix.
    package static func configuration(_ advice: String) -> APIFailure { APIFailure(.invalidRequest, advice) }

    /// Whether the sentence says more than the cause does.
    package var hasOwnSentence: Bool { reason != cause.sentence }

    /// OpenSSL's result of a verification, `X509_V_ERR_CERT_HAS_EXPIRED`.
    private static let expiredCertificate = 10

    /// Translates a libcurl code. libcurl's texts are not used, because they can name hosts and paths.
    ///
    /// A timeout before the request was sent is a network failure, not a slow server.
    init(_ code: CURLcode, _ info: starwatch_transfer_info, of transfer: CurlTransfer) {
        switch code {
        case _ where transfer.isTooLarge, CURLE_FILESIZE_EXCEEDED: self = .tooLarge
        case _ where transfer.isLookupRefused: self = .dns
        case _ where transfer.isPeerRefused: self = .peer
        case _ where info.proxy_status >= 300: self = .proxy
        case CURLE_OPERATION_TIMEDOUT where info.pre_transfer == 0:
            self = info.name_lookup == 0 ? .dns : info.connect == 0 ? .connect : .tls
        case CURLE_OPERATION_TIMEDOUT: self = .timeout
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .dns
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: self = .connect
        case CURLE_PEER_FAILED_VERIFICATION where info.verification == Self.expiredCertificate: self = .expired
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
            self = .tls
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT: self = .invalidRequest
        // The scheme was checked earlier, so an unsupported protocol is a response without a head ("HTTP/0.9").
        // libcurl reports an overlong header line as CURLE_OUT_OF_MEMORY.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_UNSUPPORTED_PROTOCOL,
            CURLE_OUT_OF_MEMORY:
            self = .malformed
        default: self = .reset
        }
    }
}

extension CurlTransfer {
    /// The error of a transfer that libcurl has completed; `nil` if it has a response.
    func error(_ code: CURLcode, of easy: UnsafeMutableRawPointer) -> APIFailure? {
        guard request.envelope == nil else { return mailError(code, starwatch_get_info(easy)) }
        // libcurl reports a connection that closes within the head as a response without a body.
        if code == CURLE_OK { return isHeadComplete ? nil : .reset }
        return APIFailure(code, starwatch_get_info(easy), of: self)
    }

    /// The same for a mail, whose response is the reply to its sender, a receiver or its message.
    private func mailError(_ code: CURLcode, _ info: starwatch_transfer_info) -> APIFailure? {
        let isRefusal = (400..<600).contains(info.status)
        switch code {
        case CURLE_OK, CURLE_WRITE_ERROR: return lacksLogin ? .login : code == CURLE_OK ? nil : .malformed
        case CURLE_ABORTED_BY_CALLBACK where isEnded: return .cancelled
        case CURLE_LOGIN_DENIED: return .login
        case CURLE_USE_SSL_FAILED: return .unencrypted
        case CURLE_SEND_ERROR where isRefusal: return nil
        // libcurl has one code for a refused message, and for a greeting or a hello that refuse the connection.
        case CURLE_WEIRD_SERVER_REPLY where isRefusal: return info.uploaded_bytes > 0 ? nil : .connect
        case CURLE_REMOTE_ACCESS_DENIED: return .connect
        // The server that accepted the connection says nothing.
        case CURLE_OPERATION_TIMEDOUT where info.connect > 0: return .timeout
        default: return APIFailure(code, info, of: self)
        }
    }
}
