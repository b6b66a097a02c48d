/// FNV-1a hash of everything that was added.
struct Fingerprint: Sendable, Hashable {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    init() {}

    init(of text: String) {
        add(text)
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add($0) }
    }

    mutating func add(_ number: Int64) { value = (value ^ UInt64(bitPattern: number)) &* 0x100_0000_01b3 }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
