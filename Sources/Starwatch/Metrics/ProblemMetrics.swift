import StarwatchCore
import StarwatchTelemetry
import Synchronization

/// Metrics of the problems that exist now, as the agent's last look has found them. Those that do not exist have no series.
package final class ProblemMetrics: Sendable {
    /// The expiries behind the problems of certificates.
    package let certificates = CertificateMetrics()
    private let present = Mutex<[Problem]>([])

    /// The problems of the last look, the gravest first.
    var all: [Problem] { present.withLock { $0 } }

    init() {
        let polls = CatalogueScope.current.polls.all.map(\.text)
        let sinks = CatalogueScope.current.sinks.all.map(\.text)
        let kinds = Problem.Kind.allCases
        let largest = kinds.reduce(0) { sum, kind in
            switch kind.topic {
            case .agent: sum + 1
            case .poll: sum + polls.count
            case .sink: sum + sinks.count
            case .port: sum + 1 + ServedPort.allCases.count
            case .certificate: sum + 1 + ServedPort.allCases.count + sinks.count
            }
        }
        let subjects = [
            CatalogueLabel(name: "problem", values: kinds.map(\.rawValue)), CatalogueLabel(name: "poll", values: polls),
            CatalogueLabel(name: "sink", values: sinks),
        ]
        func add(
            _ descriptor: MetricDescriptor,
            _ labels: [String] = [],
            _ value: @escaping @Sendable (Problem) -> Double?
        ) {
            page.table(
                descriptor,
                labels: subjects + labels.map { CatalogueLabel(name: $0, values: []) },
                largest: largest
            ) { [weak self] in
                // The problems of two ports can differ in their reason alone.
                var known: Set<String> = []
                return (self?.present.withLock { $0 } ?? []).compactMap { problem in
                    let all = problem.labels(with: labels)
                    guard let value = value(problem), known.insert("\(all)").inserted else { return nil }
                    return (labels: all, value: value)
                }
            }
        }
        add(
            .init(.info, "starwatch_problem_info", "A problem that exists, with its reason and the next command."),
            ["reason", "severity", "command", "runbook"]
        ) { _ in 1 }
        add(
            .init(
                .gauge,
                "starwatch_problem_since_timestamp_seconds",
                "Time since which a problem exists, by the local clock."
            )
        ) { $0.since?.seconds }
        add(
            .init(
                .gauge,
                "starwatch_problem_until_timestamp_seconds",
                "Time at which a problem ends by itself; only where that is known."
            )
        ) { $0.until?.seconds }
    }

    /// Shows these problems on the page from now on.
    func show(_ problems: [Problem]) { present.withLock { $0 = problems } }

    /// Shows the problems of the agent that a reload ended, until the first look.
    func showOn(from previous: ProblemMetrics) { show(previous.all) }
}

extension Problem {
    /// The labels that say what it is, and those of `others` that it has.
    fileprivate func labels(with others: [String]) -> [(name: String, value: String)] {
        let all: [(name: String, value: String?)] = [
            ("problem", kind.rawValue), ("poll", place.poll), ("sink", place.sink),
            ("reason", kind.topic == .port ? subject ?? reason : reason), ("severity", kind.severity.rawValue),
            ("command", command), ("runbook", kind.runbook),
        ]
        let shown = ["problem", "poll", "sink"] + others
        return all.compactMap { label in
            shown.contains(label.name) ? label.value.map { (label.name, $0) } : nil
        }
    }
}
