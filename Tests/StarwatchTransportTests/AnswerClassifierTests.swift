import Foundation
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct AnswerClassifierTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func classify(
        _ status: Int,
        _ headers: [(name: String, value: String)] = [],
        _ body: String = ""
    )
        -> APIFailure?
    {
        let response = HTTPResponse(status: status, headers: HTTPHeaders(headers), body: Array(body.utf8))
        return response.failure(at: now)
    }

    @Test(arguments: [200, 201, 204, 299, 304]) func successStatusesAreNotFailures(status: Int) {
        #expect(classify(status, [], #"{"error":"x"}"#) == nil)
    }

    @Test(arguments: [
        (301, RequestResult.redirected, FailureClass.refused), (302, .redirected, .refused),
        (307, .redirected, .refused),
        (400, .badRequest, .refused), (401, .unauthenticated, .unauthenticated), (403, .forbidden, .refused),
        (404, .notFound, .refused), (405, .badRequest, .refused), (408, .timeout, .timeout),
        (409, .badRequest, .refused), (413, .badRequest, .refused), (415, .badRequest, .refused),
        (429, .rateLimited, .rateLimited), (500, .serverError, .serverError), (502, .serverError, .serverError),
        (503, .serverError, .serverError), (504, .serverError, .serverError), (600, .malformed, .malformed),
        (199, .malformed, .malformed),
    ])
    func everyStatusHasAClass(status: Int, result: RequestResult, failureClass: FailureClass) {
        let failure = classify(status)
        #expect(failure?.result == result)
        #expect(failure?.failureClass == failureClass)
        #expect(failure?.status == status)
        #expect(failure?.retryAfter == nil)
    }

    /// The golden fixture "Rate Limited Response" (R-TST-04).
    @Test func theRateLimitedFixtureSaysHowLongToWait() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "StarwatchCoreTests/Fixtures/rate_limited.json")
        let body = try String(contentsOf: file, encoding: .utf8)
        let failure = try #require(classify(429, [], body))
        #expect(failure.result == .rateLimited && failure.failureClass == .rateLimited)
        #expect(failure.retryAfter == .seconds(60))
        #expect(classify(429, [("Retry-After", "90")], body)?.retryAfter == .seconds(90))
    }

    @Test func a503WithRetryAfterIsUnavailable() {
        let failure = classify(503, [("Retry-After", "120")])
        #expect(failure?.failureClass == .unavailable)
        #expect(failure?.retryAfter == .seconds(120))
        #expect(classify(503, [("Retry-After", "soon")])?.failureClass == .serverError)
    }

    @Test(arguments: [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504])
    func retryAfterIsReadFromEveryFailure(status: Int) {
        let failure = classify(status, [("Retry-After", "120")])
        #expect(failure?.retryAfter == .seconds(120))
        // The status determines the class, with or without Retry-After.
        if status >= 500 { #expect(failure?.failureClass == (status == 503 ? .unavailable : .serverError)) }
    }

    @Test func retryAfterDateCountsFromTheResponseDate() {
        let failure = classify(
            429,
            [("Date", "Thu, 01 Jan 2015 00:00:00 GMT"), ("Retry-After", "Thu, 01 Jan 2015 00:01:30 GMT")]
        )
        #expect(failure?.retryAfter == .seconds(90))
        let without = classify(429, [("Retry-After", "Thu, 01 Jan 2026 00:00:10 GMT")])
        #expect(without?.retryAfter == .seconds(10))
    }

    @Test func bodyRetryAfterIsUsedWithoutHeader() {
        let body =
            #"{"error":"Rate limit exceeded","code":"RATE_LIMIT_EXCEEDED","retryAfter":60,"details":{"limit":1}}"#
        #expect(classify(429, [], body)?.retryAfter == .seconds(60))
        #expect(classify(429, [("Retry-After", "5")], body)?.retryAfter == .seconds(5))
        #expect(classify(503, [], #"{"error":"service_unavailable","retryAfter":3600}"#)?.failureClass == .unavailable)
        #expect(classify(429, [], #"{"retryAfter":-1}"#)?.retryAfter == nil)
        #expect(classify(429, [], #"{"retryAfter":1e300}"#)?.retryAfter == .seconds(1_000_000_000))
    }

    @Test(arguments: [
        (#"{"error":{"message":"JWT failed verification: … has expired: exp","code":"JWT_VERIFY_FAILED"}}"#, true),
        (#"{"error":{"message":"issued in the future","code":"JWT_VERIFY_FAILED"}}"#, true),
        (#"{"error":{"message":"","code":"JWT_VERIFY_FAILED"}}"#, true),
        (#"{"error":{"code":"JWT_VERIFY_FAILED"}}"#, true),
        (#"{"error":{"message":"JWT failed verification"}}"#, true),
        (#"{"error":"unauthorized","message":"JWT token expired"}"#, true),
        (#"{"error":{"message":"x","code":"UNSUPPORTED_DID_METHOD"}}"#, false),
        (#"{"error":{"message":"JWT audience is required","code":"JWT_VERIFY_FAILED"}}"#, false),
        (#"{"error":{"message":"no matching public key found","code":"JWT_VERIFY_FAILED"}}"#, false),
    ])
    func a400AboutTheTokenIsUnauthenticated(body: String, canRetry: Bool) {
        let failure = classify(400, [], body)
        #expect(failure?.result == .unauthenticated)
        #expect(failure?.failureClass == (canRetry ? .unauthenticated : .refused))
    }

    @Test(arguments: [
        "", "<h1>413 Error</h1>", #"{"error":"planIds array parameter is required"}"#, #""JWT_VERIFY_FAILED""#, "{",
        "[]",
        "null", #"{"error":["JWT_VERIFY_FAILED"]}"#, #"{"error":"invalid_request","message":"JWT"}"#, "\u{feff}{}",
    ])
    func other400sAreBadRequests(body: String) {
        #expect(classify(400, [], body)?.result == .badRequest)
    }

    @Test func aTokenOfTheWrongAlgorithmGetsItsOwnAdvice() {
        let message = "JWT failed verification: Error: not_supported: No supported signature types for algorithm HS256"
        let failure = classify(400, [], #"{"error":{"message":"\#(message)","code":"JWT_VERIFY_FAILED"}}"#)
        #expect(failure?.failureClass == .refused)
        #expect(failure?.detail == ServerErrorDetail(code: .tokenNotVerified, token: .algorithm))
        #expect(failure?.reason.contains("set auth.kind to did_key") == true)
    }

    @Test func theFieldOfA400AndTheScopeOfA403AreNamed() {
        let field = classify(
            400,
            [],
            #"{"error":"invalid_request","message":"m","details":{"field":"planIds","expected":"string[]"}}"#
        )
        #expect(field?.detail == ServerErrorDetail(code: .invalidRequest, field: .planIds))
        #expect(field?.reason.contains("the field planIds") == true)
        let scope = classify(
            403,
            [],
            #"{"error":"forbidden","details":{"requiredScope":"notifications:read","userScope":"hush"}}"#
        )
        #expect(scope?.detail.description == "error=forbidden scope=notifications:read")
        #expect(scope?.reason.contains("the scope notifications:read") == true)
    }

    @Test(arguments: [
        #"{"error":"hush","details":{"field":"hush","requiredScope":"hush:read"}}"#,
        #"{"error":"invalid request","details":{"field":3,"requiredScope":["notifications"]}}"#,
        #"{"error":7,"details":"hush"}"#, #"{"details":{"field":"did:ethr:0x1","requiredScope":"did:ethr:0x1"}}"#,
    ])
    func wordsOutsideTheListsAreDropped(body: String) {
        for status in [400, 401, 403, 422, 500] {
            #expect(classify(status, [], body)?.detail == ServerErrorDetail())
        }
    }

    @Test func reasonContainsNoServerText() {
        for status in 300..<600 {
            let reason = classify(status, [("Location", "hush")], #"{"error":{"message":"hush JWT","code":"hush"}}"#)?
                .reason
            #expect(reason?.contains("hush") != true)
        }
    }

    @Test(arguments: [
        (#"{"error":"a b"}"#, "a b", "a b"), (#"{"error":{"message":"m","code":"c"}}"#, "c", "m"),
        (#""Error: SQLITE_BUSY""#, nil, "Error: SQLITE_BUSY"), (#"{"error":"e","code":"c","message":"m"}"#, "c", "m"),
        ("<html>", nil, nil), (#"{"code":"c","message":"m","retryAfter":1e999,"ids":[-1e999]}"#, "c", "m"),
    ])
    func errorBodiesOfEveryShapeAreRead(body: String, code: String?, message: String?) {
        let error = ErrorBody(Array(body.utf8))
        #expect(error.code == code)
        #expect(error.message == message)
    }
}
