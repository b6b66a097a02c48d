import StarwatchCore

extension PollRun {
    /// A year, in seconds.
    private static let longestWithin: Int64 = 31_536_000

    static var form: RequestForm<PollRun> {
        let parameter = "unless_within"
        var form = RequestForm<PollRun> { run in
            var request = ControlRequest()
            request.arguments = [run.name]
            if let within = run.unlessWithin { request.query = [(parameter, "\(within.components.seconds)")] }
            return request
        } read: { request in
            let seconds = try Parameters(request.query, allowing: [parameter]).number(parameter)
            if let seconds, !(1...longestWithin).contains(seconds) {
                throw ControlError(.invalid, "\(parameter) must be from 1 to \(longestWithin) seconds.")
            }
            return PollRun(request.arguments[0], unlessWithin: seconds.map { .seconds($0) })
        }
        form.parameters = [parameter]
        return form
    }
}

extension ChosenAction {
    static var form: RequestForm<ChosenAction> {
        RequestForm { chosen in
            var request = ControlRequest()
            request.arguments = [chosen.notification, chosen.action.rawValue]
            return request
        } read: { request in
            guard let action = NotificationAction(rawValue: request.arguments[1]) else {
                let names = NotificationAction.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(.invalid, "There is no such action; use one of \(names).")
            }
            return ChosenAction(action, on: request.arguments[0])
        }
    }
}

extension AccountExport {
    static var form: RequestForm<AccountExport> {
        .body(#"{"did": "did:…"}, with "trial": true to change nothing"#) { _ = try $0.account() }
    }
}

extension AccountImport {
    static var form: RequestForm<AccountImport> {
        .body(#"{"bundle": "…"}, with "trial": true to change nothing"#)
    }
}

extension LogQuery {
    static let levelField = QueryField<LogQuery>(name: "level") {
        $0.level?.rawValue
    } read: { query, word in
        guard let level = LogLine.Level(rawValue: word) else {
            let words = LogLine.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.invalid, "There is no such level; use one of \(words).")
        }
        query.level = level
    }
}
