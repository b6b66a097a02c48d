import Starwatch
import Testing

@testable import StarwatchCommand

@Suite struct SinkTestTextTests {
    private func report(_ json: String) throws -> SinkTestReport {
        try ControlJSON.decode(SinkTestReport.self, from: Array(json.utf8))
    }

    @Test func everyNotificationHasALineWithTheAnswer() throws {
        let report = try report(
            #"""
            {"sink": "hook", "notification_id": "ntf_2", "result": "rejected", "error": "Refused.", "took_ms": 6,
             "messages": [
               {"message": "one_change", "notification_id": "ntf_1", "result": "ok", "took_ms": 1},
               {"message": "several_changes", "notification_id": "ntf_2", "result": "rejected", "error": "Refused.",
                "answer": "too\u001b long", "took_ms": 2},
               {"message": "notice", "notification_id": "ntf_3", "result": "timeout", "error": "Late.", "took_ms": 3}
             ]}
            """#
        )
        #expect(
            report.text == """
                hook: rejected in 6 ms: Refused.
                  one change with a link: ok.
                  several changes: rejected. Answer: too? long
                  a notice: timeout: Late.
                """
        )
        #expect(report.answer == "Answer: too? long")
    }

    @Test func aServiceThatSaysNothingHasNoAnswer() throws {
        let report = try report(
            #"""
            {"sink": "hook", "notification_id": "ntf_1", "result": "ok", "took_ms": 1, "messages": [
               {"message": "one_change", "notification_id": "ntf_1", "result": "ok", "took_ms": 1}
             ]}
            """#
        )
        #expect(report.text == "hook: ok in 1 ms.\n  one change with a link: ok.")
        #expect(report.answer == nil)
    }
}
