/// Ages and durations as the pages and the command line write them.
package enum AgeText {
    /// `3 min ago`, `in 3 min`, or `now`.
    ///
    /// - Parameter seconds: The time's age; negative for a future time.
    package static func age(_ seconds: Double) -> String {
        if seconds.magnitude < 1 { return "now" }
        return seconds < 0 ? "in " + duration(-seconds) : duration(seconds) + " ago"
    }

    /// The two largest units: `45 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. Below 10 s with a tenth, below 1 s in ms.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds.magnitude < 1e12 else { return "–" }
        if seconds < 1 { return "\(Int(seconds * 1000)) ms" }
        let whole = Int(seconds)
        func two(_ large: Int, _ unit: String, _ small: Int, _ smallUnit: String) -> String {
            small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small) \(smallUnit)"
        }
        switch whole {
        case ..<10:
            let tenths = Int(seconds * 10)
            return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        case ..<60: return "\(whole) s"
        case ..<600: return two(whole / 60, "min", whole % 60, "s")
        case ..<3600: return "\(whole / 60) min"
        case ..<86_400: return two(whole / 3600, "h", whole % 3600 / 60, "min")
        default: return two(whole / 86_400, "d", whole % 86_400 / 3600, "h")
        }
    }
}
