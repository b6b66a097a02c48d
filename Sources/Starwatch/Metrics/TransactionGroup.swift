package import StarwatchStore
import StarwatchTelemetry

/// Group of database transactions that share a histogram. One for each ``StoreOperation`` would be 190 series.
package enum TransactionGroup: String, MetricLabel {
    case read, write

    package init(_ operation: StoreOperation) {
        self =
            switch operation {
            case .pollState, .read, .snapshot: .read
            case .open, .commit, .bootstrap, .finishCycle, .identity, .server, .stars, .claim, .delivery, .acknowledge,
                .watermark, .evict, .edit, .digest, .log, .retention, .checkpoint:
                .write
            }
    }
}
