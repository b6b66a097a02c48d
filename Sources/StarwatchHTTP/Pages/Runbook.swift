/// An alert's runbook, as `alerts/runbooks` has it. The folder `Runbooks` of this target is a link to that folder.
struct Runbook: Sendable {
    /// The alert's name.
    let name: String
    /// The text in Markdown.
    let text: String

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the runbook of an alert; `nil` if there is none. `name` can end in `.md`, as a link to the file does.
    static func find(_ name: String) -> Runbook? {
        all.first { $0.name == name || $0.name + ".md" == name }
    }

    /// The first sentences: the section "Meaning".
    var meaning: String {
        let sections = text.split(separator: "\n## ", maxSplits: 2)
        guard sections.count > 1, let end = sections[1].firstIndex(of: "\n") else { return "" }
        return String(sections[1][end...].trimmingPrefix { $0.isNewline })
    }

    /// All runbooks by name. A test compares the list with the folder.
    static let all: [Runbook] = [
        Runbook("StarwatchAgentAbsent", PackageResources.StarwatchAgentAbsent_md),
        Runbook("StarwatchAgentDown", PackageResources.StarwatchAgentDown_md),
        Runbook("StarwatchBackpressure", PackageResources.StarwatchBackpressure_md),
        Runbook("StarwatchCallbackEventsDropped", PackageResources.StarwatchCallbackEventsDropped_md),
        Runbook("StarwatchClockSkewHigh", PackageResources.StarwatchClockSkewHigh_md),
        Runbook("StarwatchClockSyncStale", PackageResources.StarwatchClockSyncStale_md),
        Runbook("StarwatchConfigReloadFailed", PackageResources.StarwatchConfigReloadFailed_md),
        Runbook("StarwatchContractViolations", PackageResources.StarwatchContractViolations_md),
        Runbook("StarwatchCrashLooping", PackageResources.StarwatchCrashLooping_md),
        Runbook("StarwatchCredentialsRefused", PackageResources.StarwatchCredentialsRefused_md),
        Runbook("StarwatchDeadLettersPresent", PackageResources.StarwatchDeadLettersPresent_md),
        Runbook("StarwatchDeliveryFailing", PackageResources.StarwatchDeliveryFailing_md),
        Runbook("StarwatchDigestNotShown", PackageResources.StarwatchDigestNotShown_md),
        Runbook("StarwatchDiskFillForecast", PackageResources.StarwatchDiskFillForecast_md),
        Runbook("StarwatchDiskLow", PackageResources.StarwatchDiskLow_md),
        Runbook("StarwatchFreshnessBurnFast", PackageResources.StarwatchFreshnessBurnFast_md),
        Runbook("StarwatchFreshnessBurnSlow", PackageResources.StarwatchFreshnessBurnSlow_md),
        Runbook("StarwatchLedgerImbalance", PackageResources.StarwatchLedgerImbalance_md),
        Runbook("StarwatchLogErrors", PackageResources.StarwatchLogErrors_md),
        Runbook("StarwatchOutboxFillForecast", PackageResources.StarwatchOutboxFillForecast_md),
        Runbook("StarwatchOutboxOldestDue", PackageResources.StarwatchOutboxOldestDue_md),
        Runbook("StarwatchPollFailing", PackageResources.StarwatchPollFailing_md),
        Runbook("StarwatchPollStale", PackageResources.StarwatchPollStale_md),
        Runbook("StarwatchPollStaleCritical", PackageResources.StarwatchPollStaleCritical_md),
        Runbook("StarwatchQuarantinedItems", PackageResources.StarwatchQuarantinedItems_md),
        Runbook("StarwatchRedactionSpike", PackageResources.StarwatchRedactionSpike_md),
        Runbook("StarwatchRequestLatencyP95High", PackageResources.StarwatchRequestLatencyP95High_md),
        Runbook("StarwatchRequestLatencyP99High", PackageResources.StarwatchRequestLatencyP99High_md),
        Runbook("StarwatchScheduleMissed", PackageResources.StarwatchScheduleMissed_md),
        Runbook("StarwatchSchedulerStuck", PackageResources.StarwatchSchedulerStuck_md),
        Runbook("StarwatchSeriesOverflow", PackageResources.StarwatchSeriesOverflow_md),
        Runbook("StarwatchServerUnreachable", PackageResources.StarwatchServerUnreachable_md),
        Runbook("StarwatchSigningKeyOld", PackageResources.StarwatchSigningKeyOld_md),
        Runbook("StarwatchSinkCircuitOpen", PackageResources.StarwatchSinkCircuitOpen_md),
        Runbook("StarwatchSinkDisabled", PackageResources.StarwatchSinkDisabled_md),
        Runbook("StarwatchStoreBusy", PackageResources.StarwatchStoreBusy_md),
        Runbook("StarwatchStoreErrors", PackageResources.StarwatchStoreErrors_md),
        Runbook("StarwatchThrottledTooLong", PackageResources.StarwatchThrottledTooLong_md),
        Runbook("StarwatchTokenExpiring", PackageResources.StarwatchTokenExpiring_md),
        Runbook("StarwatchTokenPoolLow", PackageResources.StarwatchTokenPoolLow_md),
        Runbook("StarwatchTokenRefreshFailing", PackageResources.StarwatchTokenRefreshFailing_md),
        Runbook("StarwatchWalGrowth", PackageResources.StarwatchWalGrowth_md),
        Runbook("StarwatchWatermarkRegressed", PackageResources.StarwatchWatermarkRegressed_md),
        Runbook("StarwatchWatermarkStuck", PackageResources.StarwatchWatermarkStuck_md),
    ]
}
