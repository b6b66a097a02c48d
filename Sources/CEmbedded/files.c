// SwiftPM's own way to embed a file makes a Swift array of its bytes. For these files that took the compiler 35 s more, in a
// debug build on 2 cores.
#include "CEmbedded.h"

// The comments at the control API's verbs and fields are in its description, so it reads them from their sources.
static const unsigned char sources[] = {
#embed "../Starwatch/Control/AccountMove.swift" suffix(,)
#embed "../Starwatch/Control/AccountReport.swift" suffix(,)
#embed "../Starwatch/Control/AgentStatus.swift" suffix(,)
#embed "../Starwatch/Control/AgentStatus+Parts.swift" suffix(,)
#embed "../Starwatch/Control/ControlError.swift" suffix(,)
#embed "../Starwatch/Control/DigestReport.swift" suffix(,)
#embed "../Starwatch/Control/FeedTokenChange.swift" suffix(,)
#embed "../Starwatch/Control/IdentityReport.swift" suffix(,)
#embed "../Starwatch/Control/IncidentReport.swift" suffix(,)
#embed "../Starwatch/Control/KeysReport.swift" suffix(,)
#embed "../Starwatch/Control/LogLine.swift" suffix(,)
#embed "../Starwatch/Control/NotificationEntry.swift" suffix(,)
#embed "../Starwatch/Control/OutboxEntry.swift" suffix(,)
#embed "../Starwatch/Control/PollReport.swift" suffix(,)
#embed "../Starwatch/Control/Story.swift" suffix(,)
#embed "../Starwatch/Feed/Feed.swift" suffix(,)
#embed "../Starwatch/Verbs/ControlAPI.swift" suffix(,)
#embed "../StarwatchCore/Changes/FieldChange.swift" suffix(,)
#embed "../StarwatchCore/Notifications/NotificationMessage.swift" suffix(,)
#embed "../StarwatchCore/Notifications/SinkAddress.swift" suffix(,)
#embed "../StarwatchHTTP/OpenAPI/HealthAnswers.swift" suffix(,)
};

starwatch_file starwatch_sources(void) { return (starwatch_file){sources, sizeof sources}; }

// The folder Runbooks is a link to alerts/runbooks.
static const unsigned char runbooks[] = {
#embed "Runbooks/StarwatchAbsent.md" suffix(, 0,)
#embed "Runbooks/StarwatchAccountsFailing.md" suffix(, 0,)
#embed "Runbooks/StarwatchAccountsLate.md" suffix(, 0,)
#embed "Runbooks/StarwatchAcknowledgementsFailing.md" suffix(, 0,)
#embed "Runbooks/StarwatchAgentDown.md" suffix(, 0,)
#embed "Runbooks/StarwatchBackpressure.md" suffix(, 0,)
#embed "Runbooks/StarwatchBehindServer.md" suffix(, 0,)
#embed "Runbooks/StarwatchCallbackEventsDropped.md" suffix(, 0,)
#embed "Runbooks/StarwatchCanaryLate.md" suffix(, 0,)
#embed "Runbooks/StarwatchCertificateExpired.md" suffix(, 0,)
#embed "Runbooks/StarwatchCertificateExpiring.md" suffix(, 0,)
#embed "Runbooks/StarwatchClockJumped.md" suffix(, 0,)
#embed "Runbooks/StarwatchClockSkewHigh.md" suffix(, 0,)
#embed "Runbooks/StarwatchClockSyncStale.md" suffix(, 0,)
#embed "Runbooks/StarwatchConfigReloadFailed.md" suffix(, 0,)
#embed "Runbooks/StarwatchContractViolations.md" suffix(, 0,)
#embed "Runbooks/StarwatchCrashLooping.md" suffix(, 0,)
#embed "Runbooks/StarwatchCredentialsRefused.md" suffix(, 0,)
#embed "Runbooks/StarwatchDeadLettersPresent.md" suffix(, 0,)
#embed "Runbooks/StarwatchDeliveryFailing.md" suffix(, 0,)
#embed "Runbooks/StarwatchDigestNotShown.md" suffix(, 0,)
#embed "Runbooks/StarwatchDiskFillForecast.md" suffix(, 0,)
#embed "Runbooks/StarwatchDiskLow.md" suffix(, 0,)
#embed "Runbooks/StarwatchFreshnessBurnFast.md" suffix(, 0,)
#embed "Runbooks/StarwatchFreshnessBurnSlow.md" suffix(, 0,)
#embed "Runbooks/StarwatchLedgerImbalance.md" suffix(, 0,)
#embed "Runbooks/StarwatchLogErrors.md" suffix(, 0,)
#embed "Runbooks/StarwatchNoPolls.md" suffix(, 0,)
#embed "Runbooks/StarwatchNoStars.md" suffix(, 0,)
#embed "Runbooks/StarwatchOutboxFillForecast.md" suffix(, 0,)
#embed "Runbooks/StarwatchOutboxOldestDue.md" suffix(, 0,)
#embed "Runbooks/StarwatchPollFailing.md" suffix(, 0,)
#embed "Runbooks/StarwatchPollStale.md" suffix(, 0,)
#embed "Runbooks/StarwatchPollStaleCritical.md" suffix(, 0,)
#embed "Runbooks/StarwatchQuarantinedItems.md" suffix(, 0,)
#embed "Runbooks/StarwatchRedactionSpike.md" suffix(, 0,)
#embed "Runbooks/StarwatchRequestLatencyP95High.md" suffix(, 0,)
#embed "Runbooks/StarwatchRequestLatencyP99High.md" suffix(, 0,)
#embed "Runbooks/StarwatchScheduleMissed.md" suffix(, 0,)
#embed "Runbooks/StarwatchSchedulerStuck.md" suffix(, 0,)
#embed "Runbooks/StarwatchSeriesOverflow.md" suffix(, 0,)
#embed "Runbooks/StarwatchServerErrors.md" suffix(, 0,)
#embed "Runbooks/StarwatchServerSlow.md" suffix(, 0,)
#embed "Runbooks/StarwatchServerUnreachable.md" suffix(, 0,)
#embed "Runbooks/StarwatchSignedOut.md" suffix(, 0,)
#embed "Runbooks/StarwatchSigningKeyOld.md" suffix(, 0,)
#embed "Runbooks/StarwatchSinkCircuitOpen.md" suffix(, 0,)
#embed "Runbooks/StarwatchSinkDisabled.md" suffix(, 0,)
#embed "Runbooks/StarwatchStoreBusy.md" suffix(, 0,)
#embed "Runbooks/StarwatchStoreDamaged.md" suffix(, 0,)
#embed "Runbooks/StarwatchStoreErrors.md" suffix(, 0,)
#embed "Runbooks/StarwatchStoreFull.md" suffix(, 0,)
#embed "Runbooks/StarwatchStoreLost.md" suffix(, 0,)
#embed "Runbooks/StarwatchTargetGone.md" suffix(, 0,)
#embed "Runbooks/StarwatchThrottledTooLong.md" suffix(, 0,)
#embed "Runbooks/StarwatchTokenExpiring.md" suffix(, 0,)
#embed "Runbooks/StarwatchTokenPoolLow.md" suffix(, 0,)
#embed "Runbooks/StarwatchTokenRefreshFailing.md" suffix(, 0,)
#embed "Runbooks/StarwatchWalGrowth.md" suffix(, 0,)
#embed "Runbooks/StarwatchWatchdog.md" suffix(, 0,)
#embed "Runbooks/StarwatchWatermarkRegressed.md" suffix(, 0,)
#embed "Runbooks/StarwatchWatermarkStuck.md" suffix(, 0,)
};

starwatch_file starwatch_runbooks(void) { return (starwatch_file){runbooks, sizeof runbooks}; }

static const unsigned char style[] = {
#embed "Pages/style.css"
};

starwatch_file starwatch_style(void) { return (starwatch_file){style, sizeof style}; }

static const unsigned char script[] = {
#embed "Pages/page.js"
};

starwatch_file starwatch_script(void) { return (starwatch_file){script, sizeof script}; }

static const unsigned char live_script[] = {
#embed "Pages/live.js"
};

starwatch_file starwatch_live_script(void) { return (starwatch_file){live_script, sizeof live_script}; }
