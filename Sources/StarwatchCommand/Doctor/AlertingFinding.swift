import Starwatch

/// The finding about alerting: whether an alert would fire if the agent vanished, and reach somebody.
enum AlertingFinding {
    /// The job that the rules expect.
    static let job = "starwatch"

    private static let area = "alerting"
    private static let files = "/usr/share/starwatch/alerts"
    /// The alert about a job without targets.
    private static let absent = "StarwatchAbsent"
    /// The alert that always fires.
    private static let watchdog = "StarwatchWatchdog"

    /// - Parameter state: The state of the Prometheus server; `nil` if none is named.
    static func finding(_ state: Result<AlertingState, AgentError>?) -> Finding {
        switch state {
        case nil: Finding(area, .skipped, "Name the Prometheus server with --prometheus URL to check its alerts.")
        case .failure(let error): Finding(area, .problem, error.message)
        case .success(let state): finding(state)
        }
    }

    private static func finding(_ state: AlertingState) -> Finding {
        if state.targets == 0 {
            let text = "Prometheus has no target with the job \(job), so no alert about the agent can fire"
            return Finding(area, .problem, text + "; add a scrape job of that name.")
        }
        if state.scraped < state.targets {
            let text = "Prometheus reaches \(state.scraped) of \(state.targets) targets of the job \(job)"
            return Finding(area, .problem, text + "; its page of targets shows the error.")
        }
        if state.alerts[absent] == nil {
            let text = "Prometheus has no alert \(absent), so a vanished agent goes unnoticed"
            return Finding(area, .problem, text + "; load the rules in \(files).")
        }
        guard let alert = state.alerts[watchdog] else {
            return Finding(area, .problem, "\(watchdog) is not loaded; load the rules in \(files).")
        }
        guard alert == "firing" else {
            // A Prometheus that just started has not evaluated the rules yet.
            let text = "\(watchdog) is loaded but does not fire"
            let advice = "if Prometheus has run for two minutes, its page of rules shows the error"
            return Finding(area, .problem, "\(text); \(advice).")
        }
        if state.alertmanagers == 0 {
            let text = "Prometheus sends its alerts to no Alertmanager, so nobody is told"
            return Finding(area, .problem, text + "; add alerting.alertmanagers to its configuration.")
        }
        let agents = state.targets == 1 ? "1 agent" : "\(state.targets) agents"
        let receivers = state.alertmanagers == 1 ? "1 Alertmanager" : "\(state.alertmanagers) Alertmanagers"
        return Finding(
            area,
            .ok,
            "Prometheus scrapes \(agents), \(absent) is loaded, \(watchdog) fires, and \(receivers) gets the alerts."
        )
    }
}
