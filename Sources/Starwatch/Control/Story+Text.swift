extension Story.Step {
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
        if let nextAt { parts.append("next attempt \(nextAt)") }
        if let reason { parts.append(reason) }
        return parts.joined(separator: ", ")
    }
}
