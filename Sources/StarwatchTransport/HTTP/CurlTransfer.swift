import CCurl

/// One request on its way; belongs to the driver's thread from the moment it is taken from the queue.
final class CurlTransfer {
    let id: UInt64
    let request: HTTPRequest
    let submittedAt: ClockReading
    let continuation: CheckedContinuation<HTTPExchange, Never>

    var easy: UnsafeMutableRawPointer?
    var headerList: UnsafeMutablePointer<curl_slist>?
    private(set) var isTooLarge = false
    /// Whether its name was not looked up, for there were too many lookups under way.
    private(set) var isLookupRefused = false
    /// The most lookups at once.
    private let maxLookups: Int
    private var head: [UInt8] = []
    private var headBytes = 0
    private(set) var isHeadComplete = false
    private var body: [UInt8] = []
    private lazy var isStream: Bool =
        request.onBody != nil && easy.map { (200..<300).contains(starwatch_get_info($0).status) } ?? false

    init(
        id: UInt64,
        request: HTTPRequest,
        submittedAt: ClockReading,
        maxLookups: Int,
        continuation: CheckedContinuation<HTTPExchange, Never>
    ) {
        self.id = id
        self.request = request
        self.submittedAt = submittedAt
        self.maxLookups = maxLookups
        self.continuation = continuation
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: HTTPHeaders(block: head), body: body)
    }

    /// The most bytes of a head, of those before it, and of trailers. libcurl has a limit in some versions only.
    private static let headLimitBytes = 256 * 1024

    /// Takes a line of the head. A status line begins a new one (after `100 Continue`); trailers are left out.
    ///
    /// - Returns: `false` when there are too many, which ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= Self.headLimitBytes else {
            isTooLarge = true
            return false
        }
        keepHeader(line)
        return true
    }

    private func keepHeader(_ line: UnsafeRawBufferPointer) {
        if line.count > 5, line.prefix(5).elementsEqual("HTTP/".utf8) {
            head.removeAll(keepingCapacity: true)
            isHeadComplete = false
            return
        }
        guard !isHeadComplete else { return }
        if line.count <= 2 {
            isHeadComplete = true
            return
        }
        if head.isEmpty { head.reserveCapacity(512) }
        head.append(contentsOf: line)
    }

    /// Takes a piece of the decompressed body; `false` when it is more than the request allows, which ends the
    /// transfer. libcurl's own limit looks at `Content-Length` only, which a chunked or compressed body does not have.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isStream, let onBody = request.onBody {
            onBody(Array(bytes))
            return true
        }
        guard bytes.count <= request.maxResponseBytes - body.count else {
            isTooLarge = true
            body = []
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }
}

extension CurlTransfer {
    /// Asks to look a name up, which libcurl does on a thread of its own; `false` when there are too many already.
    func beginLookup() -> Bool {
        if request.hasNumericHost { return true }
        guard LookupThreads.count < maxLookups else {
            isLookupRefused = true
            return false
        }
        LookupThreads.nameNext()
        return true
    }
}

/// libcurl's callback before a name lookup, on the driver's thread; anything but 0 refuses it.
func starwatchBeginLookup(
    _ state: UnsafeMutableRawPointer?,
    _ reserved: UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().beginLookup() ? 0 : 1
}

/// libcurl's write callback.
func starwatchReceiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, count > 0 else { return count }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

/// libcurl's header callback.
func starwatchReceiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, count > 0 else { return count }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}
