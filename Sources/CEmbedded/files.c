// SwiftPM's own way to embed a file makes a Swift array of its bytes. For these files that took the compiler 35 s more, in a
// debug build on 2 cores.
#include "CEmbedded.h"

static const unsigned char openapi[] = {
#embed "openapi.json"
};

starwatch_file starwatch_openapi(void) { return (starwatch_file){openapi, sizeof openapi}; }

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
