import Starwatch

/// Findings that a Prometheus server tells about the agent.
extension Finding {
    /// The job that the rules expect.
    static let alertingJob = "starwatch"

    private static let files = "/usr/share/starwatch/alerts"
    /// The alert about a job without targets.
    private static let absent = "StarwatchAbsent"
    /// The alert that always fires.
    private static let watchdog = "StarwatchWatchdog"

    /// The finding about alerting: whether an alert would fire if the agent vanished, and reach somebody.
    ///
    /// - Parameter state: The state of the Prometheus server; `nil` if none is named.
    static func alerting(_ state: Result<AlertingState, AgentError>?) -> Finding {
        switch state {
        case nil: Finding("alerting", .skipped, "Name the Prometheus server with --prometheus URL to check its alerts.")
        case .failure(let error): Finding("alerting", .problem, error.message)
        case .success(let state): alerting(state)
        }
    }

    private static func alerting(_ state: AlertingState) -> Finding {
        if state.targets == 0 {
            let text = "Prometheus has no target with the job \(alertingJob), so no alert about the agent can fire"
            return Finding("alerting", .problem, text + "; add a scrape job of that name.")
        }
        if state.scraped < state.targets {
            let text = "Prometheus reaches \(state.scraped) of \(state.targets) targets of the job \(alertingJob)"
            return Finding("alerting", .problem, text + "; its page of targets shows the error.")
        }
        if state.alerts[absent] == nil {
            let text = "Prometheus has no alert \(absent), so a vanished agent goes unnoticed"
            return Finding("alerting", .problem, text + "; load the rules in \(files).")
        }
        guard let alert = state.alerts[watchdog] else {
            return Finding("alerting", .problem, "\(watchdog) is not loaded; load the rules in \(files).")
        }
        guard alert == "firing" else {
            // A Prometheus that just started has not evaluated the rules yet.
            let text = "\(watchdog) is loaded but does not fire"
            let advice = "if Prometheus has run for two minutes, its page of rules shows the error"
            return Finding("alerting", .problem, "\(text); \(advice).")
        }
        if state.alertmanagers == 0 {
            let text = "Prometheus sends its alerts to no Alertmanager, so nobody is told"
            return Finding("alerting", .problem, text + "; add alerting.alertmanagers to its configuration.")
        }
        let agents = state.targets.counted("agent")
        let receivers = state.alertmanagers.counted("Alertmanager")
        return Finding(
            "alerting",
            .ok,
            "Prometheus scrapes \(agents), \(absent) is loaded, \(watchdog) fires, and \(receivers) gets the alerts."
        )
    }

    /// The version of `alerts/starwatch.rules.yml`. It rises with each change of that file.
    static let rulesVersion = 7
    /// The series that the rules record with their version.
    static let rulesQuery = "max(starwatch:rules:version)"

    /// The finding about the rules that a Prometheus server has loaded.
    ///
    /// - Parameter loaded: The version, `nil` for none; `nil` if no server is named.
    static func rules(loaded: Result<Double?, AgentError>?) -> Finding {
        switch loaded {
        case nil:
            return Finding("rules", .skipped, "Name the Prometheus server with --prometheus URL to check its rules.")
        case .failure(let error)?: return Finding("rules", .problem, error.message)
        case .success(nil)?:
            return Finding(
                "rules",
                .problem,
                "Prometheus has no rules of Starwatch, or has just started; load those in \(files)."
            )
        case .success(Double(rulesVersion))?:
            return Finding("rules", .ok, "Prometheus has the rules of this version (\(rulesVersion)).")
        case .success(let other?)?:
            let found = Int(exactly: other).map { "version \($0)" } ?? "an unknown version"
            let text = "Prometheus has \(found) of the rules, and this program is made for \(rulesVersion)"
            return Finding("rules", .warning, text + "; load those in \(files).")
        }
    }
}
