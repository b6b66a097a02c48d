package import StarwatchCore
import StarwatchTransport

/// Posts to a URL, according to the Standard Webhooks specification or in the format of a chat.
package enum WebhookSink: RequestKind {
    package static let kind = "webhook"
    private static let formats = SinkFormat.allCases.map(\.rawValue)
    private static func room(_ text: String) -> String? { usualProblem(of: .room, text) }
    package static let settings =
        [
            SinkSetting("url", .secretURL, "or url_file; telegram and pushover need none", part: .url),
            SinkSetting("format", .choice(formats), "a chat's service; null: Standard Webhooks"),
            SinkSetting("body_file", .body, "a template of the body, as JSON with {{title}}"),
            SinkSetting("url_file", .secretFile(.line), "a file with the URL"),
            SinkSetting(
                "room",
                .word(room),
                "receiver, for matrix, telegram and pushover",
                part: .room,
                shown: "<secret>"
            ),
            SinkSetting("topic", .number(topics), "telegram: message_thread_id of a topic"),
            SinkSetting("token_file", .secretFile(.token), "matrix, telegram, gotify, pushover"),
            SinkSetting("secret_file", .secretFile(.keys), "whsec_ and base64, or bytes; two whsec_ lines to rotate"),
            SinkSetting("include_account", .flag, "true: adds account_did, the account's DID", standard: false),
        ] + SinkSetting.connection + [.timeout, .canary]
    package static let setups =
        [
            SetupSink(
                kind,
                SinkOptions.Kind(WebhookSink.self),
                rank: 3,
                [.init("url", form: "URL", "The URL of the sink")],
                secret: SetupSink.Secret(setting: "secret_file", name: "hook.secret")
            )
        ] + SinkFormat.allCases.map { setup(of: $0) }
    package static var examples: [(comment: String, sink: SinkOptions)] {
        let kind = SinkOptions.Kind(
            WebhookSink.self,
            ["url": "https://example.org/hook", "secret_file": "hook.secret"]
        )
        return [
            ("Standard Webhooks, signed with secret_file:", SinkOptions(name: "hook", kind: kind)),
            (
                "A room of a chat, or push messages, in the format of the service:",
                SinkOptions(name: "room", kind: .chat(.slack, ["url_file": "slack.url"]))
            ),
        ]
    }

    /// The numbers that a topic can have.
    private static let topics = 1...Int(Int32.max)

    package static func format(of sink: SinkOptions) -> SinkFormat {
        chat(of: sink.kind)
            ?? plain(template: sink["body_file"]?.body, includesAccount: sink["include_account"] == true)
    }

    /// Standard Webhooks. The id is the notification's and the same for every retry, so that a receiver that stores ids sees
    /// each notification once.
    ///
    /// - Parameters:
    ///   - template: The body in place of the notification's JSON; `nil` for that one.
    ///   - includesAccount: Whether the notification has the DID of its account.
    static func plain(template: BodyTemplate? = nil, includesAccount: Bool = false) -> SinkFormat {
        SinkFormat(kind) {
            // A body without the field would tell of the end of a notice as of another one.
            $0.takesBack = template?.tellsOfWithdrawals ?? true
            $0.literals = template?.literals.map(\.trimmingSpaces) ?? []
            let unusable = SinkFailure("The sink's secret_file cannot be used.", .tokenFile)
            $0.unusable = unusable
            $0.request = { draft throws(SinkFailure) in
                let (id, now) = (draft.notification.id, draft.now)
                let body = WebhookSink.body(
                    of: draft.notification,
                    account: includesAccount ? draft.account : nil,
                    template
                )
                var headers: [(name: String, value: String)] = [("X-Run-ID", draft.notification.runID)]
                if let key = draft.secret {
                    guard let signer = WebhookSigner(file: key) else { throw unusable }
                    headers += signer.headers(id: id, timestamp: now, body: body)
                } else {
                    headers += [("webhook-id", id), ("webhook-timestamp", String(now.wholeSeconds))]
                }
                return ServiceRequest(body, headers: headers + Trace.headers)
            }
        }
    }

    /// The payload, which is a JSON object, with the DID as its first field; the template filled with both if there is one.
    ///
    /// - Parameter account: The account whose DID the receiver gets; `nil` for none.
    private static func body(
        of notification: OutgoingNotification,
        account: DID?,
        _ template: BodyTemplate?
    ) -> [UInt8] {
        var payload = notification.payload
        if let account, payload.first == UInt8(ascii: "{") {
            let field = Array("{\"\(BodyTemplate.accountDID)\":".utf8) + StableJSON.bytes(of: account.rawValue)
            payload = field + [UInt8(ascii: ",")] + payload.dropFirst()
        }
        return template?.render(payload) ?? payload
    }

    package static func standard(of key: String, in kind: SinkOptions.Kind) -> SinkValue? {
        guard key == "url", kind["url_file"] == nil else { return setting(key)?.standard }
        return chat(of: kind)?.standardURL.map { .text($0) }
    }

    package static func partsOfAccounts(
        in sink: SinkOptions
    ) -> (needed: [SinkAddress.Part], optional: [SinkAddress.Part]) {
        let needsURL = sink["url"] == nil && sink["url_file"] == nil
        guard let service = chat(of: sink.kind) else {
            return (needsURL ? [.url] : [], sink["secret_file"] == nil ? [.secret] : [])
        }
        let needsRoom = service.needsRoom && sink["room"] == nil
        let needed: [(SinkAddress.Part, Bool)] = [
            (.url, needsURL), (.room, needsRoom),
            (.secret, service.needsToken && sink["token_file"] == nil),
        ]
        return (needed.filter(\.1).map(\.0), needsRoom && service.hasTopics ? [.topic] : [])
    }

    package static func problem(of part: SinkAddress.Part, _ text: String, in sink: SinkOptions) -> String? {
        let service = chat(of: sink.kind)
        return switch part {
        case .secret where service == nil:
            WebhookSigner(file: Array(text.utf8)) == nil
                ? "must be the secret's text, or lines of whsec_ and then a secret in base64." : nil
        case .topic: Int(text).map { topics.contains($0) } == true ? nil : "must be the number of a topic in the group."
        case .url: usualProblem(of: part, text) ?? service?.problem(ofURL: text)
        case .room: usualProblem(of: part, text) ?? service?.roomProblem(text)
        case .to, .secret: usualProblem(of: part, text)
        }
    }

    /// Each service of a chat needs its own settings.
    package static func mistakes(in sink: SinkOptions, has: (String) -> Bool, isForMany: Bool) -> [Mistake] {
        var mistakes: [Mistake] = []
        if has("url"), has("url_file") { mistakes.append(("url", "and url_file are both set; remove one.")) }
        let hasURL = has("url") || has("url_file")
        guard let service = chat(of: sink.kind) else {
            guard !has("format") else { return mistakes }
            if !hasURL, !isForMany {
                mistakes.append((nil, "a sink of kind webhook needs url or url_file; add one of the two."))
            }
            for key in ["room", "topic", "token_file"] where has(key) {
                mistakes.append((key, "needs format; add format or remove this setting."))
            }
            return mistakes
        }
        let format = "the format \(service.rawValue)"
        func hasNoEffect(_ key: String) { mistakes.append((key, "has no effect with \(format); remove it.")) }
        if has("body_file") { mistakes.append(("body_file", "and format are both set; remove one.")) }
        var missing = hasURL || service.standardURL != nil ? [] : ["url or url_file"]
        for (key, isNeeded) in [("room", service.needsRoom), ("token_file", service.needsToken)]
        where has(key) != isNeeded {
            if isNeeded { missing.append(key) } else { hasNoEffect(key) }
        }
        if !missing.isEmpty, !isForMany {
            mistakes.append((nil, "\(format) needs \(missing.joined(separator: ", and ")); add what is missing."))
        }
        if has("topic"), !service.hasTopics {
            hasNoEffect("topic")
        } else if has("topic"), !has("room"), isForMany {
            mistakes.append(("topic", "is one of a room, and each account brings its own; remove it."))
        }
        for key in ["secret_file", "include_account", "canary"] where has(key) && sink[key] != false {
            mistakes.append((key, "is for programs that read a webhook, not for \(format); remove it."))
        }
        return mistakes
    }

    /// The chat of a sink; `nil` for a webhook without one.
    private static func chat(of kind: SinkOptions.Kind) -> SinkFormat? {
        SinkFormat.allCases.first { .text($0.rawValue) == kind["format"] }
    }

    private static func setup(of chat: SinkFormat) -> SetupSink {
        // Everyone who has such an address can post.
        let hasSecretURL = chat.standardURL == nil && !chat.needsToken
        let (key, asks) =
            hasSecretURL
            ? ("url_file", "Address that \(chat.rawValue) gave")
            : ("url", "Server of \(chat.rawValue), such as https://example.org")
        let url = SetupSink.Part(
            key,
            form: "URL",
            "The address of \(chat.rawValue)",
            asks: asks,
            isSecret: hasSecretURL
        )
        let id = "Receiver: the id that \(chat.rawValue) shows"
        let room = SetupSink.Part("room", form: "RECEIVER", "The receiver", asks: id)
        let token = SetupSink.Secret(setting: "token_file", name: "\(chat.rawValue).token", isNeeded: true)
        let parts = (chat.standardURL == nil ? [url] : []) + (chat.needsRoom ? [room] : [])
        return SetupSink(chat.rawValue, .chat(chat), rank: 8, parts, secret: chat.needsToken ? token : nil)
    }
}

extension SinkOptions.Kind {
    /// Standard Webhooks, with a `timeout` for each request; unsigned if `secretFile` is `nil`.
    public static func webhook(url: String, secretFile: String?, timeout: Duration) -> Self {
        Self(
            WebhookSink.self,
            ["url": .text(url), "secret_file": secretFile.map { .text($0) }, "timeout": .time(timeout)]
        )
    }

    /// A chat, in the format of its service, with further settings of a webhook: `url` or `url_file`, `room`, `topic`,
    /// `token_file`, `timeout`.
    public static func chat(_ service: SinkFormat, _ settings: [String: SinkValue] = [:]) -> Self {
        Self(WebhookSink.self, settings.merging(["format": .text(service.rawValue)]) { $1 })
    }
}
