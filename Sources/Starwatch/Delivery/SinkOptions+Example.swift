import StarwatchCore

extension SinkOptions {
    /// The request body of a webhook for an example notification; `nil` if the sink is no webhook. Nothing is read or sent.
    package func exampleBody(in options: AgentOptions) -> String? {
        guard kind.type == WebhookSink.self else { return nil }
        // The room and the token of a chat are secrets.
        var draft = SinkFormat.Draft(
            notification: Self.notification(in: options),
            room: "<room>",
            secret: Array("<token>".utf8)
        )
        (draft.account, draft.catalogues) = (DID("did:ethr:0x\(Self.zeros)"), options.delivery.catalogues)
        return (try? WebhookSink.format(of: self).request(draft)).map { String(decoding: $0.body, as: UTF8.self) }
    }

    private static let zeros = String(repeating: "0", count: 40)

    /// One change of a project whose name needs escapes, in the texts of the configuration.
    private static func notification(in options: AgentOptions) -> OutgoingNotification {
        let id = JWTID.floor(.ulid, at: time)
        let plan = "https://endorser.ch/entity/\(id.rawValue)"
        var message = NotificationMessage(
            id: "ntf_example",
            runID: "run_example",
            poll: PollName("starred_projects")!,
            kind: .starredProjects,
            changes: [Change(id: id, plan: plan, name: "Garden \"North\"")],
            context: NotificationContext(
                messages: NotificationRenderer(polls: options.polls, options: options.delivery).messages,
                fields: [id: FieldChanges(["description": FieldChange(before: "Beds", after: "Beds and trees")])]
            ),
            createdAt: time
        )
        if options.fleetOfMany != nil { message.account = "did:hash:\(zeros.prefix(16))" }
        return OutgoingNotification(message)
    }

    /// 2026-01-01T00:00:00Z.
    private static let time = Timestamp(seconds: 1_767_225_600)
}
