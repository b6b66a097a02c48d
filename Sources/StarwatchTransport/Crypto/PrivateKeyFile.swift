/// A parser for secp256k1 private keys: 64 hexadecimal digits, or PEM as SEC 1 (`EC PRIVATE KEY`) or PKCS #8.
enum PrivateKeyFile {
    enum Failure: Error {
        /// The content has none of the supported forms.
        case unreadable
        /// A passphrase protects the key. The agent runs unattended and cannot ask for it.
        case encrypted
        /// The key has another curve or type.
        case wrongCurve

        /// The problem or its fix, for ``TokenError/fileInvalid(setting:advice:)``.
        var advice: String {
            switch self {
            case .unreadable: "it must hold 64 hexadecimal digits or a PEM key"
            case .encrypted: "store the key without a passphrase and with mode 600"
            case .wrongCurve: "its key must be a secp256k1 key"
            }
        }
    }

    /// The key and its 32 bytes.
    static func parse(_ bytes: [UInt8]) throws(Failure) -> (number: [UInt8], key: Secp256k1PrivateKey) {
        let text = String(decoding: bytes, as: UTF8.self).filter { $0 != "\r" }
        var number: [UInt8]
        if text.contains("-----BEGIN") {
            guard !text.contains("ENCRYPTED") else { throw .encrypted }
            if let der = pem(text, label: "EC PRIVATE KEY") {
                number = try sec1(DERReader(der), isCurveKnown: false)
            } else if let der = pem(text, label: "PRIVATE KEY") {
                number = try pkcs8(DERReader(der))
            } else {
                throw .unreadable
            }
        } else {
            var digits = text.utf8.filter { $0 > 32 }
            if digits.starts(with: "0x".utf8) { digits.removeFirst(2) }
            guard digits.count == 64, let decoded = Hex.decode(digits) else { throw .unreadable }
            number = decoded
        }
        guard number.count <= 32 else { throw .unreadable }
        number.insert(contentsOf: repeatElement(0, count: 32 - number.count), at: 0)
        guard let key = Secp256k1PrivateKey(number) else { throw .unreadable }
        return (number, key)
    }

    private static func pem(_ text: String, label: String) -> [UInt8]? {
        let lines = text.split(separator: "\n")
        guard let start = lines.firstIndex(of: "-----BEGIN \(label)-----"),
            let end = lines[start...].firstIndex(of: "-----END \(label)-----")
        else { return nil }
        return Base64.decode(lines[(start + 1)..<end].joined().filter { $0 != " " })
    }

    /// Parses `ECPrivateKey` of RFC 5915: version, key, and optionally curve and public key.
    private static func sec1(_ reader: DERReader, isCurveKnown: Bool) throws(Failure) -> [UInt8] {
        var reader = reader
        guard var fields = reader.read(.sequence).map(DERReader.init), fields.read(.integer) == [1],
            let key = fields.read(.octetString)
        else { throw .unreadable }
        if let parameters = fields.read(.context0) {
            var reader = DERReader(parameters)
            guard reader.read(.objectIdentifier) == DERReader.secp256k1 else { throw .wrongCurve }
        } else if !isCurveKnown {
            throw .wrongCurve
        }
        return key
    }

    /// Parses `PrivateKeyInfo` of RFC 5208, which wraps an `ECPrivateKey`.
    private static func pkcs8(_ reader: DERReader) throws(Failure) -> [UInt8] {
        var reader = reader
        guard var fields = reader.read(.sequence).map(DERReader.init), fields.read(.integer) != nil,
            var algorithm = fields.read(.sequence).map(DERReader.init), let inner = fields.read(.octetString)
        else { throw .unreadable }
        guard algorithm.read(.objectIdentifier) == DERReader.ecPublicKey,
            algorithm.read(.objectIdentifier) == DERReader.secp256k1
        else { throw .wrongCurve }
        return try sec1(DERReader(inner), isCurveKnown: true)
    }
}

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

    init(_ bytes: [UInt8]) { rest = bytes[...] }

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
