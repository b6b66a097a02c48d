import CCurl
import Glibc

/// A request in progress. Only the driver's thread uses it once it has left the queue.
final class CurlTransfer {
    let id: UInt64
    let request: HTTPRequest
    let submittedAt: ClockReading
    let continuation: CheckedContinuation<HTTPExchange, Never>

    @exclusivity(unchecked) var easy: UnsafeMutableRawPointer?
    /// The handle that it was added to.
    @exclusivity(unchecked) var shard: CurlShard?
    /// The headers that the handle points to.
    @exclusivity(unchecked) var lines: HeaderLines?
    /// The receivers of a mail that the handle points to.
    var list: UnsafeMutablePointer<curl_slist>?
    private(set) var isTooLarge = false
    /// Whether the name lookup was refused, because too many are in progress.
    private(set) var isLookupRefused = false
    /// Whether the process at the other end of the Unix socket was not accepted.
    private(set) var isPeerRefused = false
    /// Whether it was cancelled while libcurl waited for a mail server's reply.
    private(set) var isEnded = false
    fileprivate var socket: Int32 = -1
    private let inbox: CurlInbox
    private let lookups: LookupThreads
    let acceptsPeer: (@Sendable (UInt32?) -> Bool)?
    @exclusivity(unchecked) private var head = ResponseHead()
    @exclusivity(unchecked) private var body: [UInt8] = []
    /// Whether the reply of a mail server goes on in its next line.
    private var isReplyOpen = false
    private var login = (isGreeted: false, isTaken: false)
    /// The number of bytes of a mail that libcurl has taken.
    @exclusivity(unchecked) private var sentBytes = 0
    private lazy var isStream: Bool =
        request.onBody != nil && easy.map { (200..<300).contains(starwatch_get_info($0).status) } ?? false

    init(
        id: UInt64,
        request: HTTPRequest,
        submittedAt: ClockReading,
        inbox: CurlInbox,
        lookups: LookupThreads,
        acceptsPeer: (@Sendable (UInt32?) -> Bool)?,
        continuation: CheckedContinuation<HTTPExchange, Never>
    ) {
        (self.id, self.request, self.submittedAt, self.lookups) = (id, request, submittedAt, lookups)
        (self.inbox, self.acceptsPeer, self.continuation) = (inbox, acceptsPeer, continuation)
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: HTTPHeaders(block: head.block), body: body)
    }

    var isHeadComplete: Bool { head.isComplete }

    /// Appends a line of the head.
    ///
    /// - Returns: `false` beyond the size limit, which ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        if request.envelope != nil { return receiveReply(line) }
        guard head.receive(line) else {
            isTooLarge = true
            return false
        }
        return true
    }

    /// Keeps a line of a mail server. The last reply counts, except the farewell after a refusal.
    ///
    /// - Returns: `false` if the server is ready for the message, and took no login.
    private func receiveReply(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !line.starts(with: "221".utf8) else { return true }
        if line.starts(with: "220".utf8) { login.isGreeted = true }
        if line.starts(with: "235".utf8) { login.isTaken = true }
        if line.starts(with: "354".utf8), lacksLogin { return false }
        if !isReplyOpen { body = [] }
        body += line.prefix(Self.longestReply - body.count)
        isReplyOpen = line.count > 3 && line[3] == UInt8(ascii: "-")
        return true
    }

    /// Whether the server has not taken the login. libcurl sends the mail without it if the server offers none (7.88.1). On a
    /// connection that is used again nothing is greeted, and the login was taken before.
    var lacksLogin: Bool { request.envelope?.login != nil && login.isGreeted && !login.isTaken }

    /// The greatest length of a reply that is kept. A line has 512 bytes at most (RFC 5321, section 4.5.3.1.5).
    private static let longestReply = 2048

    /// The reply of a mail server after which the transfer ended; empty for HTTP.
    var lastReply: [UInt8] { request.envelope == nil ? [] : body }

    /// Copies the next bytes of a mail, as many as fit.
    fileprivate func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let rest = request.body?.dropFirst(sentBytes).prefix(buffer.count) ?? []
        buffer.copyBytes(from: rest)
        sentBytes += rest.count
        return rest.count
    }

    /// The number of bytes that each received byte of a large body can become. gzip reaches 1,032, but pages of a real
    /// server below 30.
    private static let unpacking = (freeBytes: 1 << 20, greatestRatio: 100)

    /// Returns whether a body of `count` unpacked bytes fits to what was received.
    private func isUnpackedModestly(_ count: Int) -> Bool {
        let (free, ratio) = Self.unpacking
        guard count > free, let easy else { return true }
        return count - free <= starwatch_get_info(easy).downloaded_bytes * ratio
    }

    /// Appends a piece of the decompressed body. libcurl's own limit checks only `Content-Length`, which is missing for
    /// a chunked body and too small for a compressed one.
    ///
    /// - Returns: `false` beyond the request's size limit, which ends the transfer.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isStream, let onBody = request.onBody {
            onBody(Array(bytes))
            return true
        }
        guard bytes.count <= request.maxResponseBytes - body.count, isUnpackedModestly(bytes.count + body.count) else {
            isTooLarge = true
            body = []
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }
}

extension CurlTransfer {
    /// The transfer of a callback of libcurl, or of a handle; `nil` without one.
    static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns whether a mail is to end, because it was cancelled or its client ends.
    fileprivate func endMail() -> Bool {
        isEnded = isEnded || inbox.hasEnded(id)
        return isEnded
    }

    /// Permits a name lookup, which libcurl does on a thread of its own; `false` when too many are in progress.
    func beginLookup() -> Bool {
        isLookupRefused = !lookups.begin(request.url)
        return !isLookupRefused
    }

    /// Returns whether the request can be sent to the process at the other end of the Unix socket.
    func acceptPeer() -> Bool {
        let isAccepted = acceptsPeer.map { $0(UInt32(exactly: starwatch_peer_user(socket))) } ?? true
        isPeerRefused = !isAccepted
        return isAccepted
    }
}

/// libcurl's callback that opens a socket.
func starwatchOpenSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = CurlTransfer.of(context), let address = address?.pointee else { return -1 }
    let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
    transfer.socket = descriptor
    return descriptor
}

/// libcurl's callback on a connection, before it sends the request. A result other than 0 ends the transfer.
func starwatchAcceptPeer(
    context: UnsafeMutableRawPointer?,
    address: UnsafeMutablePointer<CChar>?,
    ownAddress: UnsafeMutablePointer<CChar>?,
    port: Int32,
    ownPort: Int32
) -> Int32 {
    CurlTransfer.of(context)?.acceptPeer() == true ? 0 : 1
}

/// libcurl's callback before a name lookup, on the driver's thread. A result other than 0 refuses the lookup.
func starwatchBeginLookup(
    _ state: UnsafeMutableRawPointer?,
    _ reserved: UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    CurlTransfer.of(context)?.beginLookup() == false ? 1 : 0
}

/// libcurl's progress callback, for a mail. A result other than 0 ends it.
func starwatchEndMail(
    context: UnsafeMutableRawPointer?,
    expected: curl_off_t,
    received: curl_off_t,
    toSend: curl_off_t,
    sent: curl_off_t
) -> Int32 {
    CurlTransfer.of(context)?.endMail() == true ? 1 : 0
}

/// libcurl's read callback, for a mail. 0 ends it.
func starwatchSendBody(
    bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    context: UnsafeMutableRawPointer?
) -> Int {
    CurlTransfer.of(context)?.sendBody(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

/// libcurl's write callback. A result other than `count` ends the transfer.
func starwatchReceiveBody(
    bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    context: UnsafeMutableRawPointer?
) -> Int {
    receive(bytes, count: count, for: context) { $0.receiveBody($1) }
}

/// libcurl's header callback. A result other than `count` ends the transfer.
func starwatchReceiveHeader(
    bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    context: UnsafeMutableRawPointer?
) -> Int {
    receive(bytes, count: count, for: context) { $0.receiveHeader($1) }
}

private func receive(
    _ bytes: UnsafeMutablePointer<CChar>?,
    count: Int,
    for context: UnsafeMutableRawPointer?,
    by accept: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
) -> Int {
    // The context is the transfer that ``CurlHandle/prepare(_:for:options:timeout:)`` set; it is never `nil`.
    guard let transfer = CurlTransfer.of(context), count > 0 else { return count }
    return accept(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

/// The head of a response, received line by line.
struct ResponseHead {
    /// The limit for all heads and trailers of a response together. Only some versions of libcurl have a limit.
    private static let limitBytes = 256 * 1024

    /// The lines of the last head without its status line.
    private(set) var block: [UInt8] = []
    private(set) var isComplete = false
    private var receivedBytes = 0

    /// Appends a line. A status line begins a new head, after `100 Continue`; trailers are ignored.
    ///
    /// - Returns: `false` beyond the size limit.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        receivedBytes += line.count
        guard receivedBytes <= Self.limitBytes else { return false }
        if line.count > 5, let start = line.baseAddress, memcmp(start, "HTTP/", 5) == 0 {
            block.removeAll(keepingCapacity: true)
            isComplete = false
        } else if line.count <= 2 {
            isComplete = true
        } else if !isComplete {
            if block.isEmpty { block.reserveCapacity(512) }
            block.append(contentsOf: line)
        }
        return true
    }
}
