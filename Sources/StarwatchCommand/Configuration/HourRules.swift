import Starwatch
import StarwatchCore

/// The settings that say when a sink gets notifications, and their rules.
extension ConfigurationTable {
    @SettingsBuilder<SinkOptions> static var hours: [Entry<SinkOptions>] {
        Entry("quiet_hours", \.quietHours, as: quietHours, "\"22:00-07:00\": holds changes, then sends them as one")
        Entry("deliver_at", \.deliverAt, as: times, "[\"08:00\"]: only then, what came since as one")
        Entry("timezone", \.timezone, as: .text(ValueRules.timezone), "of both; null: this machine's time zone")
    }

    static func checkHours(_ section: SettingsField) {
        if section.has("quiet_hours"), section.has("deliver_at") {
            section.report("cannot be combined with deliver_at; remove one of the two.", at: "quiet_hours")
        }
        if section.has("timezone"), !section.has("quiet_hours"), !section.has("deliver_at") {
            section.report("needs quiet_hours or deliver_at; add one or remove this setting.", at: "timezone")
        }
    }

    private static var quietHours: Rule<QuietHours> {
        Rule<String>.text(problem(ofQuietHours:)).map(to: { "\"\($0)\"" }) { text, _ in QuietHours(text) }
    }

    /// Returns what is wrong with quiet hours, or `nil`.
    private static func problem(ofQuietHours text: String) -> String? {
        if QuietHours(text) != nil { return nil }
        let times = text.split(separator: "-").compactMap { DayTime(String($0)) }
        guard times.count == 2, times[0] == times[1] else {
            return "must be two times of the day such as \"22:00-07:00\"."
        }
        return "must begin and end at different times of the day, such as \"22:00-07:00\"."
    }
}

extension SinkOptions {
    fileprivate var quietHours: QuietHours? {
        get { if case .quiet(let hours)? = hours { hours } else { nil } }
        set { if let newValue { hours = .quiet(newValue) } }
    }

    fileprivate var deliverAt: [DayTime]? {
        get { if case .deliverAt(let times)? = hours { times } else { nil } }
        set { if let newValue { hours = .deliverAt(newValue) } }
    }
}
