import Glibc

/// The header fields of a response, stored as received and searched on demand.
///
/// A poll reads a handful of fields. Splitting all fields into strings would dominate the cost of a response.
package struct HTTPHeaders: Sendable {
    /// The lines of the head without the status line, each terminated by CR LF or LF.
    private let block: [UInt8]
    /// The places of the fields in it. A name is sought by its length first.
    private let fields: [Field]

    private struct Field {
        let start: Int
        let nameLength: Int
        let end: Int
    }

    /// Creates the fields from the lines of a head. Folded lines and lines without a colon are ignored.
    package init(block: [UInt8]) {
        self.block = block
        var fields: [Field] = []
        fields.reserveCapacity(24)
        block.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count {
                let newline = memchr(base + start, Int32(UInt8(ascii: "\n")), bytes.count - start)
                let end = newline.map { UnsafeRawPointer($0) - base } ?? bytes.count
                if let colon = memchr(base + start, Int32(UInt8(ascii: ":")), end - start) {
                    fields.append(Field(start: start, nameLength: UnsafeRawPointer(colon) - base - start, end: end))
                }
                start = end + 1
            }
        }
        self.fields = fields
    }

    /// Creates a head from fields, for tests and callers without a block.
    package init(_ fields: [(name: String, value: String)]) {
        var block: [UInt8] = []
        for field in fields {
            block.append(contentsOf: field.name.utf8)
            block.append(UInt8(ascii: ":"))
            block.append(contentsOf: field.value.utf8)
            block.append(UInt8(ascii: "\n"))
        }
        self.init(block: block)
    }

    /// The trimmed value of the first field named `name`, ignoring case; `nil` when there is none.
    package subscript(name: String) -> String? {
        var name = name
        return name.withUTF8 { wanted in
            block.withUnsafeBufferPointer { value(of: wanted, in: $0) }
        }
    }

    /// The trimmed values of all fields named `name`, as one list (RFC 9110, section 5.3); `nil` when there is none.
    package func list(_ name: String) -> String? {
        var name = name
        let values = name.withUTF8 { wanted in
            block.withUnsafeBufferPointer { bytes in
                fields.filter { $0.nameLength == wanted.count && Self.matches(wanted, bytes, at: $0.start) }
                    .map { Self.value(of: $0, in: bytes) }
            }
        }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Whether there is a field named `name`, ignoring case.
    package func contains(_ name: String) -> Bool { self[name] != nil }

    /// A field about the rate limit, under its three common names.
    package enum RateLimitField {
        case remaining, reset

        fileprivate var names: (String, String, String) {
            switch self {
            case .remaining: ("X-Rate-Limit-Remaining", "X-RateLimit-Remaining", "RateLimit-Remaining")
            case .reset: ("X-Rate-Limit-Reset", "X-RateLimit-Reset", "RateLimit-Reset")
            }
        }
    }

    /// The value of `field` under any of its names; `nil` when there is none.
    package func rateLimit(_ field: RateLimitField) -> String? {
        let names = field.names
        return self[names.0] ?? self[names.1] ?? self[names.2]
    }

    private func value(of name: UnsafeBufferPointer<UInt8>, in block: UnsafeBufferPointer<UInt8>) -> String? {
        for field in fields where field.nameLength == name.count && Self.matches(name, block, at: field.start) {
            return Self.value(of: field, in: block)
        }
        return nil
    }

    private static func value(of field: Field, in block: UnsafeBufferPointer<UInt8>) -> String {
        var from = field.start + field.nameLength + 1
        var to = field.end
        while from < to, isBlank(block[from]) { from += 1 }
        while to > from, isBlank(block[to - 1]) { to -= 1 }
        return String(decoding: UnsafeBufferPointer(rebasing: block[from..<to]), as: UTF8.self)
    }

    private static func matches(
        _ name: UnsafeBufferPointer<UInt8>,
        _ block: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) -> Bool {
        for index in 0..<name.count where lowercase(name[index]) != lowercase(block[start + index]) { return false }
        return true
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 32 : byte }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
}
