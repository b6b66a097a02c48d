/// The operands of CLDR's plural rules, which depend on the displayed digits, not only on the value.
public struct PluralOperands: Sendable, Hashable {
    /// The integer digits.
    let i: Int
    /// The number of displayed fraction digits, and their value with and without trailing zeros.
    let v: Int
    let f: Int
    let t: Int
    /// The exponent of a compact form such as `1c6`.
    let e: Int

    /// Takes a whole number and ignores its sign.
    public init(_ number: Int) {
        (i, v, f, t, e) = (Int(clamping: number.magnitude), 0, 0, 0, 0)
    }

    /// Parses a number as displayed: `2`, `1.50`, `1.1c6`. `nil` for other texts and for more than 18 digits.
    public init?(_ text: some StringProtocol) {
        let sides = text.split(separator: "c", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = sides[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var whole = String(parts[0])
        var fraction = parts.count == 2 ? String(parts[1]) : ""
        var exponent = 0
        if sides.count == 2 {
            guard let power = Int(sides[1]), (0...15).contains(power) else { return nil }
            exponent = power
            fraction += String(repeating: "0", count: max(0, power - fraction.count))
            whole += fraction.prefix(power)
            fraction = String(fraction.dropFirst(power))
        }
        guard !whole.isEmpty, whole.count + fraction.count <= 18, parts.count == 1 || !parts[1].isEmpty,
            (whole + fraction).utf8.allSatisfy({ (48...57).contains($0) }), let integer = Int(whole)
        else { return nil }
        var shown = fraction[...]
        while shown.last == "0" { shown.removeLast() }
        (i, v, f, t, e) = (integer, fraction.count, Int(fraction) ?? 0, Int(shown) ?? 0, exponent)
    }

    /// Whether the value is whole and in `range`, with or without displayed fraction digits.
    func n(_ range: ClosedRange<Int>) -> Bool { t == 0 && range.contains(i) }

    /// Whether the value is whole and its remainder is in `range`.
    func n(mod divisor: Int, _ range: ClosedRange<Int>) -> Bool { t == 0 && range.contains(i % divisor) }

    /// Whether the number has no displayed fraction and its remainder is in `range`.
    func i(mod divisor: Int, _ range: ClosedRange<Int>) -> Bool { v == 0 && range.contains(i % divisor) }
}
