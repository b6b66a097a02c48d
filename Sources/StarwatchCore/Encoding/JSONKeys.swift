/// The members that a reader of JSON asks for, numbered in their order.
///
/// The parser looks up each member's name once. Readers then compare numbers. The parser skips everything else.
struct JSONKeys: Sendable {
    /// Nothing is asked for.
    static let none = JSONKeys([])

    /// The number of a name that nobody asks for.
    static let other = UInt8.max

    private static let slots = 256
    private static let slotBytes = 32

    /// Slots of the number, the length and the bytes of a name. A name that finds its slot taken is in the next free one.
    private let table: [UInt8]
    /// The number of the outermost object's member whose elements are read; ``other`` for none.
    let list: UInt8

    /// - Parameters:
    ///   - names: At most 100 names, none of them empty or longer than 30 bytes.
    ///   - list: The one member of the outermost object whose elements are read; `nil` for none.
    init(_ names: [String], list: String? = nil) {
        var table = [UInt8](repeating: Self.other, count: Self.slots * Self.slotBytes)
        for (number, name) in names.enumerated() {
            let name = Array(name.utf8)
            precondition(name.count <= Self.slotBytes - 2)
            var slot = name.withUnsafeBufferPointer(Self.slot)
            while table[slot] != Self.other { slot = (slot + Self.slotBytes) % table.count }
            table[slot] = UInt8(number)
            table[slot + 1] = UInt8(name.count)
            table.replaceSubrange(slot + 2..<slot + 2 + name.count, with: name)
        }
        self.table = table
        self.list = list.flatMap { names.firstIndex(of: $0) }.map(UInt8.init) ?? Self.other
    }

    /// Calls `body` with what finds numbers.
    func withNumbers<Result>(_ body: (Numbers) -> Result) -> Result {
        table.withUnsafeBufferPointer { body(Numbers(table: $0)) }
    }

    /// Finds the numbers of names; valid only inside the closure of ``withNumbers(_:)``.
    struct Numbers {
        fileprivate let table: UnsafeBufferPointer<UInt8>

        /// The number of a name, or ``JSONKeys/other``.
        @inline(__always)
        func callAsFunction(_ name: UnsafeBufferPointer<UInt8>) -> UInt8 {
            guard !name.isEmpty else { return JSONKeys.other }
            var slot = JSONKeys.slot(name)
            while table[slot] != JSONKeys.other {
                if Int(table[slot + 1]) == name.count {
                    var index = 0
                    while index + 8 <= name.count, word(table, slot + 2 + index) == word(name, index) { index += 8 }
                    while index < name.count, table[slot + 2 + index] == name[index] { index += 1 }
                    if index == name.count { return table[slot] }
                }
                slot = (slot + slotBytes) % (slots * slotBytes)
            }
            return JSONKeys.other
        }

        private func word(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> UInt64 {
            UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
        }
    }

    @inline(__always)
    private static func slot(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        let (first, middle, last) = (Int(name[0]), Int(name[name.count / 2]), Int(name[name.count - 1]))
        return (name.count &* 61 &+ first &* 7 &+ middle &* 19 &+ last &* 3) % slots * slotBytes
    }
}
