import StarwatchCore
import Testing

@Suite struct FailureReasonTests {
    private static let details = [
        ServerErrorDetail(),
        ServerErrorDetail(code: .forbidden, scope: TokenScope("notifications:read")),
        ServerErrorDetail(code: .invalidRequest, field: .planIds),
        ServerErrorDetail(code: .tokenNotVerified, token: .algorithm),
    ]

    private static let all =
        FailureReason.Cause.allCases.map { FailureReason($0) }
        + [421, 550].map { FailureReason(reply: $0) }
        + details.flatMap { detail in [302, 400, 403, 404, 503].map { FailureReason(status: $0, detail: detail) } }

    @Test(arguments: all) func everyReasonReadsBackFromItsText(reason: FailureReason) {
        #expect(FailureReason(reason.description) == reason)
        #expect(!reason.phrase.isEmpty && !reason.sentence.isEmpty)
        #expect(reason.word.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 0x5F })
    }

    @Test(arguments: [
        "", "http_", "http_x", "http_99", "smtp_", "smtp_x", "smtp_99", "smtp_550 user", "teapot",
        "dns scope=notifications", "http_403 scope=alice",
        "http_403 whatever", "http_403 scope=notifications:read  error=forbidden",
    ])
    func anyOtherTextIsNoReason(text: String) {
        #expect(FailureReason(text) == nil)
    }

    @Test(arguments: [
        ("notifications", true), ("notifications:read", true), ("notifications:write", true), ("offers:list", true),
        ("", false), (":", false), ("notifications:", false), ("alice:read", false), ("notifications:alice", false),
        ("notifications:read:all", false), ("did:ethr:0x1", false),
    ])
    func onlyScopesOfTheListsAreRead(text: String, isKnown: Bool) {
        #expect((TokenScope(text) != nil) == isKnown)
    }

    @Test(arguments: [("planIds", RequestField.planIds), ("planIds[3]", .planIds), ("limit", .limit), ("alice", nil)])
    func onlyFieldsOfTheAgentsRequestsAreRead(path: String, field: RequestField?) {
        #expect(RequestField(path: path) == field)
    }

    @Test(arguments: [
        (400, FailureLabel.http400), (401, .http401), (403, .http403), (404, .http404), (408, .timeout),
        (410, .http410), (422, .http4xx), (429, .http429), (500, .http5xx), (503, .http503), (504, .http5xx),
        (301, .http3xx), (308, .http3xx), (999, .other),
    ])
    func everyStatusHasALabel(status: Int, label: FailureLabel) {
        #expect(FailureReason(status: status).label == label)
    }

    @Test(arguments: [(421, FailureLabel.smtp4xx), (499, .smtp4xx), (500, .smtp5xx), (554, .smtp5xx)])
    func everyReplyOfAMailServerHasALabel(reply: Int, label: FailureLabel) {
        let reason = FailureReason(reply: reply)
        #expect(reason.label == label && label.isOfMail && !label.isLocal)
        #expect(reason.word == "smtp_\(reply)" && reason.phrase == "SMTP \(reply)")
    }

    @Test func theSentenceNamesTheFieldAndTheScope() {
        let (_, scope, field, algorithm) = (Self.details[0], Self.details[1], Self.details[2], Self.details[3])
        #expect(FailureReason(status: 403, detail: scope).sentence.contains("the scope notifications:read"))
        #expect(FailureReason(status: 400, detail: field).sentence.contains("the field planIds"))
        #expect(FailureReason(status: 400, detail: algorithm).sentence.contains("set auth.kind to did_key"))
        #expect(FailureReason(status: 403, detail: scope).phrase == "HTTP 403, forbidden, scope notifications:read")
    }

    @Test(arguments: [
        (FailureReason(status: 401), true), (FailureReason(status: 403), true), (FailureReason(.keyMismatch), true),
        (FailureReason(status: 400, detail: ServerErrorDetail(code: .tokenNotVerified)), true),
        (FailureReason(status: 400), false), (FailureReason(status: 404), false), (FailureReason(status: 500), false),
        (FailureReason(.dns), false),
    ])
    func refusedCredentialsNeedAPerson(reason: FailureReason, needsAction: Bool) {
        #expect(reason.needsAction == needsAction)
    }

    @Test(arguments: [
        (RequestResult.dns, FailureReason.Cause.dns), (.connect, .connect), (.tls, .tls), (.timeout, .timeout),
        (.reset, .reset), (.tooLarge, .tooLarge), (.malformed, .malformed), (.cancelled, .cancelled),
    ])
    func aFailureWithoutAnAnswerHasItsCause(result: RequestResult, cause: FailureReason.Cause) {
        let failure = APIFailure(result: result, failureClass: .network, reason: "It failed.")
        #expect(failure.cause == FailureReason(cause))
        let answered = APIFailure(result: result, failureClass: .network, status: 502, reason: "It failed.")
        #expect(answered.cause == FailureReason(status: 502))
    }

    @Test func aTokenIsRetriedAfterOneTwoFourToThirtySeconds() {
        let delays = (1...7).map { Backoff.token.delay(afterFailures: $0, random: 0) }
        #expect(delays == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(delays == (1...7).map { Backoff.token.delay(afterFailures: $0, random: 0.999) })
    }
}
