/// What CLDR's plural rules ask of a number: its digits as they are shown, not its value alone.
public struct PluralOperands: Sendable, Hashable {
    /// The integer digits.
    let i: Int
    /// How many fraction digits are shown, and their value with the zeros at their end, and without.
    let v: Int
    let f: Int
    let t: Int
    /// The exponent of a compact form such as `1c6`.
    let e: Int

    /// A whole number. The sign does not count.
    public init(_ number: Int) {
        (i, v, f, t, e) = (Int(clamping: number.magnitude), 0, 0, 0, 0)
    }

    /// A number as it is written: `2`, `1.50`, `1.1c6`. `nil` for anything else, and for more than 18 digits.
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

    /// Whether the number is whole, however it is shown, and in `range`.
    func n(_ range: ClosedRange<Int>) -> Bool { t == 0 && range.contains(i) }

    /// The same of the remainder.
    func n(mod divisor: Int, _ range: ClosedRange<Int>) -> Bool { t == 0 && range.contains(i % divisor) }

    /// Whether the number is shown without a fraction, and its remainder is in `range`.
    func i(mod divisor: Int, _ range: ClosedRange<Int>) -> Bool { v == 0 && range.contains(i % divisor) }
}
