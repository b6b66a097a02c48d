package import StarwatchCore
import StarwatchTelemetry
import Synchronization

/// The expiries of the certificates that the agent has or meets. One that is not known has no series.
package final class CertificateMetrics: Sendable {
    private let known = Mutex<[CertificateOwner: Timestamp]>([:])

    /// The known expiries, in the order of their owners' words.
    var all: [(owner: CertificateOwner, expiry: Timestamp)] {
        known.withLock { $0.map { (owner: $0.key, expiry: $0.value) } }.sorted { $0.owner.word < $1.owner.word }
    }

    init() {
        let owners: [CertificateOwner] =
            [.server] + ServedPort.allCases.map { CertificateOwner.port($0.rawValue) }
            + CatalogueScope.current.sinks.all.map { .sink($0.text) }
        page.table(
            .init(
                .gauge,
                "starwatch_certificate_expiry_timestamp_seconds",
                "Time when a certificate expires, or one of its chain: that of the server, a port or a sink.",
                stability: .detail
            ),
            labels: [CatalogueLabel(name: "of", values: owners.map(\.word))],
            largest: owners.count
        ) { [weak self] in
            (self?.all ?? []).map { (labels: [("of", $0.owner.word)], value: $0.expiry.seconds) }
        }
    }

    /// Notes when a certificate expires; `nil` for an owner that has none.
    package func show(_ expiry: Timestamp?, of owner: CertificateOwner) { known.withLock { $0[owner] = expiry } }

    /// Keeps what the agent that a reload ended knew of these owners: open connections show no certificate.
    func keep(_ owners: [CertificateOwner], of previous: CertificateMetrics) {
        for (owner, expiry) in previous.all where owners.contains(owner) {
            known.withLock { $0[owner] = $0[owner] ?? expiry }
        }
    }
}
