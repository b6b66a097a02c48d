/// A bug that is planted, to see that a simulation finds it.
package enum Defect: String, Sendable, CaseIterable {
    case none
    /// The server leaves out changes that it has.
    case loseItems = "lose_items"
    /// Somebody moves the watermark over rows that are not finished.
    case forgeWatermark = "forge_watermark"
    /// Every try of a notification has another id.
    case renameNotifications = "rename_notifications"
    /// The agent does not hear for how long it should wait.
    case hideRetryAfter = "hide_retry_after"
    /// The agent believes that it may ask thrice as often.
    case tripleLimit = "triple_limit"
}
