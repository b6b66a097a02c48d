import Starwatch
import StarwatchCore

// Queries and bodies of the control API that need more than decoding.

extension OutboxQuery {
    init(_ call: Call) throws(ControlError) {
        let parameters = try Parameters(call, allowing: ["state", "poll", "before", "limit"])
        self.init()
        state = parameters["state"]
        poll = parameters["poll"]
        before = try parameters.number("before")
        limit = try parameters.number("limit").map { Int($0) } ?? limit
    }
}

extension NotificationQuery {
    init(_ call: Call) throws(ControlError) {
        let parameters = try Parameters(call, allowing: ["limit", "before"])
        self.init()
        limit = try parameters.number("limit").map { Int($0) } ?? limit
        before = try parameters.number("before")
    }
}

extension LogQuery {
    init(_ call: Call) throws(ControlError) {
        let parameters = try Parameters(call, allowing: ["since", "level", "run", "after", "limit"])
        self.init()
        since = parameters["since"]
        if let word = parameters["level"] {
            guard let known = LogLine.Level(rawValue: word) else {
                let words = LogLine.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(.invalid, "There is no such level; use one of \(words).")
            }
            level = known
        }
        run = parameters["run"]
        after = try parameters.number("after")
        limit = try parameters.number("limit").map { Int($0) } ?? limit
    }
}

extension RowSelection {
    init(_ call: Call) throws(ControlError) {
        self = try call.decoded(Self.self, form: "{\"ids\": [1, 2]} or {\"all\": true, \"poll\": \"…\"}")
        try check()
    }

    fileprivate func check() throws(ControlError) {
        guard ids?.isEmpty == false || all == true else {
            throw ControlError(.invalid, "Name at least one outbox id, or all.")
        }
        guard ids == nil || all != true && poll == nil else {
            throw ControlError(.invalid, "Name outbox ids or all, not both; poll goes with all.")
        }
        guard ids?.allSatisfy({ $0 > 0 }) != false else {
            throw ControlError(.invalid, "An outbox id is a number from 1; see \"starwatch outbox list\".")
        }
    }
}

extension DiscardSelection {
    init(_ call: Call) throws(ControlError) {
        let form = "{\"ids\": [1, 2]} or {\"all\": true, \"poll\": \"…\", \"state\": \"claimed\"}"
        self = try call.decoded(Self.self, form: form)
        try rows.check()
        guard state == nil || rows.ids == nil else { throw ControlError(.invalid, "state goes with all.") }
    }
}

extension DID {
    init(control text: String) throws(ControlError) {
        guard let did = DID(text) else {
            throw ControlError(.invalid, "That is not a DID; it has the form did:method:id.")
        }
        self = did
    }
}
