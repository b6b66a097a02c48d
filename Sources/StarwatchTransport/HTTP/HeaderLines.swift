import CCurl

/// The headers of a request as libcurl's list, in one block of memory. `curl_slist_append` allocates each line twice, which took
/// 2 % of the instructions of an unchanged cycle (`Benchmarks/instructions`).
///
/// The list must outlive its use by a handle, and is then freed by ``free()``.
struct HeaderLines {
    /// The encodings of answers that are asked for, and that libcurl decodes.
    static let encoding = "gzip"

    private static let nodeSize = MemoryLayout<curl_slist>.stride
    /// The number of lines that can be added, and their size: `Accept-Encoding: gzip`, `Expect:` and `Content-Type:`.
    private static let added = 3
    private static let sizeOfAdded = 64

    /// The nodes of the list, and behind them the lines.
    private let block: UnsafeMutableRawPointer
    private let size: Int
    private var count = 0
    private var end: Int

    var first: UnsafeMutablePointer<curl_slist>? {
        count > 0 ? block.assumingMemoryBound(to: curl_slist.self) : nil
    }

    init(of request: HTTPRequest) {
        end = (request.headers.count + Self.added) * Self.nodeSize
        // A line has a colon and a space, and ends with a zero.
        size = request.headers.reduce(end + Self.sizeOfAdded) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
        block = .allocate(byteCount: size, alignment: MemoryLayout<curl_slist>.alignment)
        var (hasEncoding, hasContentType) = (false, false)
        for header in request.headers {
            append(header.name, header.value.isEmpty ? ";" : ": ", header.value)
            switch header.name.utf8.count {
            case 12 where header.name.lowercased() == "content-type": hasContentType = true
            case 15 where header.name.lowercased() == "accept-encoding": hasEncoding = true
            default: break
            }
        }
        // libcurl would format its own line twice.
        if !hasEncoding { append("Accept-Encoding", ": ", Self.encoding) }
        guard request.method.hasBody else { return }
        // Without these lines libcurl waits for a "100 Continue" and declares every body a form.
        append("Expect", ":", "")
        if !hasContentType { append("Content-Type", ":", "") }
    }

    private mutating func append(_ name: String, _ mark: StaticString, _ value: String) {
        let line = (block + end).assumingMemoryBound(to: CChar.self)
        let node = block.assumingMemoryBound(to: curl_slist.self) + count
        put(name)
        mark.withUTF8Buffer { put(UnsafeRawBufferPointer($0)) }
        put(value)
        block.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
        end += 1
        node.initialize(to: curl_slist(data: line, next: nil))
        if count > 0 { node[-1].next = node }
        count += 1
    }

    private mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        precondition(end + bytes.count < size, "The lines of a request's headers do not fit.")
        (block + end).copyMemory(from: start, byteCount: bytes.count)
        end += bytes.count
    }

    func free() { block.deallocate() }
}
