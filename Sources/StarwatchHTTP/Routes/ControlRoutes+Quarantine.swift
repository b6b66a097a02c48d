import Starwatch

extension ControlRoutes {
    var quarantine: [Route] {
        [
            .json("GET", "/api/v1/quarantine") { call throws(ControlError) in
                QuarantineListing(entries: try await agent.quarantineList(try QuarantineQuery(call)))
            },
            .json("POST", "/api/v1/quarantine/discard") { call throws(ControlError) in
                let selection = try RowSelection(call)
                guard let ids = selection.ids else {
                    return ChangeCount(changed: try await agent.quarantineDiscardAll(poll: selection.poll))
                }
                return ChangeCount(changed: try await agent.quarantineDiscard(ids))
            },
        ]
    }
}

extension QuarantineQuery {
    fileprivate init(_ call: Call) throws(ControlError) {
        let parameters = try Parameters(call, allowing: ["poll", "before", "limit"])
        self.init()
        poll = parameters["poll"]
        before = try parameters.number("before")
        limit = try parameters.number("limit").map { Int($0) } ?? limit
    }
}
