import StarwatchCore

extension Story {
    /// The kind as a title.
    package var title: String {
        switch kind {
        case .change: "Change"
        case .notification: "Notification"
        case .digest: "Digest"
        case .run: "Run"
        }
    }
}

extension Story.Step {
    /// Time since the previous step: `+12 ms`, `+3.2 s`, or the usual text of a duration; empty for the first.
    package var after: String {
        guard let afterMilliseconds else { return "" }
        let sign = afterMilliseconds < 0 ? "-" : "+"
        let size = afterMilliseconds.magnitude
        if size < 1000 { return "\(sign)\(size) ms" }
        if size < 60_000 { return "\(sign)\(size / 1000).\(size % 1000 / 100) s" }
        return sign + AgeText.duration(Double(size) / 1000)
    }

    /// The facts of the step in one line, without its time.
    package var details: String {
        var parts: [String] = []
        if let sink {
            let number = attempt.map { ", attempt \($0)" } ?? ""
            parts.append("sink \(sink): \(result ?? "")\(number)")
        } else if let result {
            parts.append(result)
        }
        if let page { parts.append("page \(page)") }
        if sink == nil, let attempt, attempt > 1 { parts.append("\(attempt) attempts") }
        if let count { parts.append("\(count) \(count == 1 ? "change" : "changes")") }
        if let tookMilliseconds { parts.append("took \(tookMilliseconds) ms") }
        if step == .acknowledged { parts.append(requestID == nil ? "locally" : "at the server") }
        if let requestID { parts.append("request \(requestID)") }
        if let serverRequestID, serverRequestID != requestID { parts.append("server's id \(serverRequestID)") }
        var text = parts.joined(separator: ", ")
        if let reason { text += ": \(reason)" }
        if let nextAt { text += " Next attempt \(nextAt)." }
        return text
    }
}
