import MockEndorser
import StarwatchCore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch

/// The reading of an answer, which happens once.
@Suite struct PageAnswerTests {
    private static let askedAt = Timestamp(seconds: 1_767_225_600)
    private static let empty = #"{"data":[],"hitLimit":false,"pagination":{"hasMore":false,"nextAfterId":null}}"#

    private func read(
        _ body: String,
        status: Int = 200,
        by decoder: PageDecoder = PageDecoder(dialect: .canonical, validation: .lenient, quarantine: false)
    ) -> Result<PageAnswer, APIFailure> {
        let response = HTTPResponse(status: status, headers: HTTPHeaders([]), body: Array(body.utf8))
        return PageAnswer.read(response, askedAt: Self.askedAt, by: decoder)
    }

    /// A login page of the network is not the server's mistake.
    @Test(arguments: ["<html>", "\n <!DOCTYPE html>", "\u{FEFF}<HTML>"]) func aWebPageIsAFailureWithoutIssues(
        body: String
    ) {
        guard case .failure(let failure) = read(body) else {
            Issue.record("It was read.")
            return
        }
        #expect(failure.result == .html && failure.failureClass == .malformed)
        #expect(failure.cause == FailureReason(.html) && failure.issues == [])
    }

    @Test(arguments: ["", #"{"data":["#, #"{"data":[]} x"#])
    func anUnreadablePageIsAFailureWithItsIssue(body: String) {
        guard case .failure(let failure) = read(body) else {
            Issue.record("It was read.")
            return
        }
        #expect(failure.result == .malformed && failure.status == 200)
        #expect(failure.cause == FailureReason(.notJSON))
        #expect(failure.issues == [ValidationIssue(path: "$", problem: .invalid)])
    }

    @Test func aPageThatBreaksTheContractIsAnAnswerWithItsIssues() throws {
        let answer = try read(#"{"data":[{"planSummary":{"jwtId":7}}],"hitLimit":false}"#).get()
        guard case .failure(let rejection) = answer.page else {
            Issue.record("It was accepted.")
            return
        }
        #expect(rejection.isOfItems)
        #expect(rejection.issues.map(\.path).contains("$.data[0].planSummary.jwtId"))
        // It is of the expected dialect, so nothing is doubted.
        #expect(answer.detection == .dialect(.canonical))
    }

    @Test func anotherDialectsPageShowsItInTheSameReading() throws {
        let page = #"{"data":[{"plan":{"jwtId":"01ARZ3NDEKTSV4RRFFQ69G5FAV","handleId":"h"}}],"hitLimit":false}"#
        var decoder = PageDecoder(dialect: .canonical, validation: .lenient, quarantine: false)
        let doubted = try read(page, by: decoder).get()
        #expect(doubted.detection == .dialect(.endorser))
        #expect(throws: PageRejection.self) { try doubted.page.get() }
        decoder.detects = true
        let detected = try read(page, by: decoder).get()
        #expect(detected.detection == .dialect(.endorser))
        #expect(try detected.page.get().changes.count == 1)
        // What both dialects can send is read as the expected one.
        #expect(try read(#"{"data":[]}"#, by: decoder).get().detection == .undecided)
        #expect(try read(#"{"data":7}"#, by: decoder).get().detection == .noPage)
    }

    @Test func onlyAnAnswerWithoutContentIsEmpty() throws {
        let empty = try read("", status: 204).get()
        #expect(empty.isEmpty)
        #expect(try empty.page.get() == Page.none)
        #expect(try !read(Self.empty).get().isEmpty)
        // Nothing asked the server whether the page had changed.
        let unchanged = try read("", status: 304).get()
        #expect(throws: PageRejection.self) { try unchanged.page.get() }
    }

    /// The reader of an answer runs once for each attempt that brought one, and a failure needs none.
    @Test func anAnswerIsReadOnce() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let reads = Mutex(0)
            var request = EndorserRequest(.time, of: world.did, runID: "run_of_the_test")
            request.retries = .never
            let ask = { @Sendable [request] in
                await agent.runtime.account.api.answer(to: request, dialect: .canonical) { response, _ in
                    reads.withLock { $0 += 1 }
                    return .success(response.status)
                }
            }
            #expect(try await ask().0.get() == 200)
            #expect(reads.withLock { $0 } == 1)
            world.mock.setStickyFault(.status(500), at: .time)
            #expect(await ask().end.failure != nil)
            #expect(reads.withLock { $0 } == 1)
        }
    }
}
