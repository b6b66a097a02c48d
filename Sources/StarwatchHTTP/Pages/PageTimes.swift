import StarwatchCore

/// Times on a page, relative to the page's creation.
struct PageTimes: Sendable {
    private let text: String
    private let now: Timestamp

    /// - Parameter text: The page's creation time, in ISO 8601.
    init(now text: String) { (self.text, now) = (text, Timestamp(iso8601: text) ?? Timestamp(milliseconds: 0)) }

    /// The page's creation time, for the head of the page.
    var asOf: HTML { "<p class=\"asof\">As of \(time(text))<span id=\"zone\"></span></p>" }

    /// The age of `text`, negative for a future time; `nil` if `text` is not a time.
    func secondsSince(_ text: String?) -> Double? {
        text.flatMap { Timestamp(iso8601: $0) }.map { now.seconds - $0.seconds }
    }

    /// `3 min ago` or `in 3 min`, followed by the time in UTC.
    ///
    /// - Parameter never: Shown for `nil`.
    func ageAndTime(_ text: String?, never: String = "–") -> HTML {
        guard let text, let seconds = secondsSince(text) else { return "<span class=\"none\">\(never)</span>" }
        return "<time datetime=\"\(text)\">\(AgeText.age(seconds)) <small>\(clock(text))</small></time>"
    }

    /// The time in UTC and the time that has passed since, for a text such as `since 12:00:05 UTC (3 min)`.
    func timeAndDuration(_ text: String) -> HTML {
        guard let seconds = secondsSince(text) else { return "\(text)" }
        return "\(time(text)) (\(AgeText.duration(max(0, seconds))))"
    }

    /// The time in UTC, without its age.
    func time(_ text: String) -> HTML { "<time datetime=\"\(text)\"><small>\(clock(text))</small></time>" }

    /// `12:00:05 UTC`, with the date if it is another day.
    func clock(_ text: String) -> String { Timestamp(iso8601: text)?.clock(on: now) ?? text }
}
