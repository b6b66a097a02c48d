/// Random identifiers from the system's generator.
package enum RandomID {
    /// A version 4 UUID in lower case.
    package static func uuid() -> String {
        var generator = SystemRandomNumberGenerator()
        return uuid(using: &generator)
    }

    /// A version 4 UUID in lower case from `generator`.
    package static func uuid(using generator: inout some RandomNumberGenerator) -> String {
        let high = generator.next() & ~0xf000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        var output: [UInt8] = []
        output.reserveCapacity(36)
        for index in 0..<32 {
            let word = index < 16 ? high : low
            let digit = UInt8(word >> UInt64(60 - index % 16 * 4) & 15)
            if index == 8 || index == 12 || index == 16 || index == 20 { output.append(UInt8(ascii: "-")) }
            output.append(digit < 10 ? 48 + digit : 87 + digit)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// `count` random bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        // A word at a time: each call to the generator is a system call.
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
