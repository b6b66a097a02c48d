import Crypto
import Foundation

/// Generates identifiers of changes and offers. Each is greater than the previous one, even if the clock goes back.
struct IdentifierMaker: Sendable {
    private static let base62 = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private let dialect: MockDialect
    private var lastTime = 0
    private var lastRandom: UInt64 = 0

    init(dialect: MockDialect) { self.dialect = dialect }

    /// The next identifier, for `time` or the latest time used so far.
    mutating func next(at time: Date, random: inout SeededRandom) -> String {
        let units = Self.units(of: time, dialect)
        if units > lastTime {
            lastTime = units
            // The upper half stays free for later identifiers of the same instant.
            lastRandom = random.next() % (Self.randomSpan(dialect) / 2)
        } else {
            lastRandom += 1 + random.next() % 1000
        }
        return Self.make(units: lastTime, number: lastRandom, dialect, random: &random)
    }

    /// An identifier for a given time, not ordered with the others.
    static func single(at time: Date, _ dialect: MockDialect, random: inout SeededRandom) -> String {
        let number = random.next() % (randomSpan(dialect) / 2)
        return make(units: units(of: time, dialect), number: number, dialect, random: &random)
    }

    /// The identifier that sorts directly after a canonical one; the same one if its last part is at the maximum.
    static func successor(of id: String) -> String {
        guard let hash = UInt32(id.suffix(8), radix: 16), hash < .max else { return id }
        return id.dropLast(8) + String(format: "%08x", hash + 1)
    }

    private static func units(of time: Date, _ dialect: MockDialect) -> Int {
        switch dialect {
        case .canonical: Int(time.timeIntervalSince1970.rounded(.down))
        case .endorser: Int((time.timeIntervalSince1970 * 1000).rounded(.down))
        }
    }

    /// Number of random parts: 62⁶ in the canonical dialect; 2⁶⁰ of a ULID's 2⁸⁰.
    private static func randomSpan(_ dialect: MockDialect) -> UInt64 {
        dialect == .canonical ? 56_800_235_584 : 1 << 60
    }

    private static func make(units: Int, number: UInt64, _ dialect: MockDialect, random: inout SeededRandom) -> String {
        switch dialect {
        case .canonical:
            let digits = String(units)
            let time = String(repeating: "0", count: max(0, 10 - digits.count)) + digits
            let head = time + "_" + digitText(number, count: 6, base62)
            let digest = SHA256.hash(data: Data("\(head)_\(random.next())".utf8))
            let hash = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return head + "_" + String(format: "%08x", hash == .max ? 0 : hash)
        case .endorser:
            let tail = random.next() & 0xFFFFF
            return digitText(UInt64(units), count: 10, crockford) + digitText(number, count: 12, crockford)
                + digitText(tail, count: 4, crockford)
        }
    }

    private static func digitText(_ number: UInt64, count: Int, _ alphabet: [UInt8]) -> String {
        var rest = number
        var digits = [UInt8](repeating: alphabet[0], count: count)
        for index in stride(from: count - 1, through: 0, by: -1) {
            digits[index] = alphabet[Int(rest % UInt64(alphabet.count))]
            rest /= UInt64(alphabet.count)
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
