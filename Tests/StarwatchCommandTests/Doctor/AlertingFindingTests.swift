import Starwatch
import Testing

@testable import StarwatchCommand

@Suite struct AlertingFindingTests {
    private static var sound: AlertingState {
        var state = AlertingState()
        (state.targets, state.scraped, state.alertmanagers) = (1, 1, 1)
        state.alerts = ["StarwatchAbsent": "inactive", "StarwatchWatchdog": "firing"]
        return state
    }

    @Test func alertingThatWorksIsSound() {
        let finding = Finding.alerting(.success(Self.sound))
        #expect(finding.state == .ok)
        #expect(finding.text.contains("StarwatchWatchdog fires, and 1 Alertmanager gets the alerts."))
    }

    private static func without(_ spoil: (inout AlertingState) -> Void) -> AlertingState {
        var state = sound
        spoil(&state)
        return state
    }

    @Test(arguments: [
        ("no target", without { $0.targets = 0 }), ("0 of 1 targets", without { $0.scraped = 0 }),
        ("no alert StarwatchAbsent", without { $0.alerts["StarwatchAbsent"] = nil }),
        ("does not fire", without { $0.alerts["StarwatchWatchdog"] = "inactive" }),
        ("is not loaded", without { $0.alerts["StarwatchWatchdog"] = nil }),
        ("no Alertmanager", without { $0.alertmanagers = 0 }),
    ])
    func eachMissingLinkIsAProblem(text: String, state: AlertingState) {
        let finding = Finding.alerting(.success(state))
        #expect(finding.state == .problem && finding.text.contains(text), "\(finding.text)")
    }

    @Test func theAdviceIsToLoadRulesOnlyIfTheyAreNotLoaded() {
        let silent = Finding.alerting(.success(Self.without { $0.alerts["StarwatchWatchdog"] = "inactive" }))
        #expect(silent.text.contains("its page of rules shows the error") && !silent.text.contains("load the rules"))
        let missing = Finding.alerting(.success(Self.without { $0.alerts["StarwatchWatchdog"] = nil }))
        #expect(missing.text.contains("load the rules"))
    }

    @Test func withoutPrometheusAlertingIsNotChecked() {
        #expect(Finding.alerting(nil).state == .skipped)
        let error = AgentError(.failed, "The query to Prometheus failed (connection failed).")
        #expect(Finding.alerting(.failure(error)).text == error.message)
    }
}
