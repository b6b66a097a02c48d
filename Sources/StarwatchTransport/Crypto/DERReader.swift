/// A reader for the part of DER that private keys use: definite lengths, elements in sequence.
struct DERReader {
    enum Tag: UInt8 {
        case integer = 0x02
        case octetString = 0x04
        case objectIdentifier = 0x06
        case sequence = 0x30
        case context0 = 0xa0
    }

    static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    static let secp256k1: [UInt8] = [0x2b, 0x81, 0x04, 0x00, 0x0a]

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Reads the content of the next element if its tag is `tag`; else returns `nil` and consumes nothing.
    mutating func read(_ tag: Tag) -> [UInt8]? {
        var input = rest
        guard input.popFirst() == tag.rawValue, let first = input.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7f)
            guard (1...2).contains(count), input.count >= count else { return nil }
            length = input.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            input = input.dropFirst(count)
        }
        guard input.count >= length else { return nil }
        rest = input.dropFirst(length)
        return Array(input.prefix(length))
    }
}
