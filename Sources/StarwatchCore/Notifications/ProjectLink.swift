/// The links of a notification that a browser opens.
package enum ProjectLink {
    /// The address of the only project; `nil` if it has none.
    package static func address(of message: NotificationMessage) -> String? {
        message.count == 1 ? message.changes.first.flatMap { address(ofPlan: $0.plan) } : nil
    }

    /// The address that the id of a project is; `nil` for any other id. It needs no escape in any format.
    ///
    /// Others choose the ids. A chat can refuse a whole notification for an address in it that is none, as Discord does without
    /// a domain.
    package static func address(ofPlan plan: String) -> String? {
        let form = /https:\/\/([A-Za-z0-9.\-]+)(?::([0-9]{1,5}))?\/(?:[A-Za-z0-9\/._~\-]|%[0-9A-Fa-f]{2})*/
        guard plan.utf8.count <= 1000, let (_, host, port) = plan.wholeMatch(of: form)?.output, isDomain(host),
            port.map({ (1...65_535).contains(Int($0) ?? 0) }) ?? true
        else { return nil }
        return plan
    }

    /// Whether a host is a name of several parts, of which the last is no number (RFC 1123, section 2.1).
    private static func isDomain(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let areGood = parts.allSatisfy { part in
            (1...63).contains(part.utf8.count) && part.first != "-" && part.last != "-"
        }
        return areGood && parts.count > 1 && host.utf8.count <= 253 && parts.last?.first?.isLetter == true
            && (parts.last?.utf8.count ?? 0) > 1
    }
}
