import StarwatchCore

/// Times as the pages and the command line write them.
package struct AgeText: Sendable {
    let now: Timestamp

    /// `nil` if `text` is not a time.
    func secondsSince(_ text: String?) -> Double? {
        text.flatMap { Timestamp(iso8601: $0) }.map { now.seconds - $0.seconds }
    }

    /// `3 min ago`, or `in 3 min`, with the time in UTC beside it; `never` for `nil`.
    func ageAndTime(_ text: String?, never: String = "–") -> HTML {
        guard let text, let seconds = secondsSince(text) else { return "<span class=\"none\">\(never)</span>" }
        return "<time datetime=\"\(text)\">\(Self.age(seconds)) <small>\(clock(text))</small></time>"
    }

    /// The time alone, for who wants to know when and not how long ago.
    func time(_ text: String) -> HTML { "<time datetime=\"\(text)\"><small>\(clock(text))</small></time>" }

    /// `12:00:05 UTC`, with the date if it is another day.
    func clock(_ text: String) -> String {
        guard let time = Timestamp(iso8601: text)?.iso8601 else { return text }
        let day = time.prefix(10)
        let clock = time.dropFirst(11).prefix(8)
        return day == now.iso8601.prefix(10) ? "\(clock) UTC" : "\(day) \(clock) UTC"
    }

    /// `3 min ago`, `in 3 min`, or `now`.
    ///
    /// - Parameter seconds: Since that time; negative when it is to come.
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
