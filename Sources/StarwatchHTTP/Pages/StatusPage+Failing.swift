import Starwatch
import StarwatchCore

extension StatusPage {
    /// The accounts that fail for longest, by their pseudonyms; empty if none fails.
    var failingSection: HTML {
        guard let worst = status.accounts?.worst, !worst.isEmpty else { return "" }
        let others = (status.accounts?.failing ?? worst.count) - worst.count
        let more: HTML =
            others > 0
            ? "<p class=\"more\">\(others) more: <code>starwatch accounts list --failing</code></p>\n"
            : "<p class=\"more\"><code>starwatch accounts list --failing</code> names the accounts.</p>\n"
        return .table(
            "failing",
            "Failing accounts",
            of: ["Account", "Poll", "Reason", "Since", "Failures", "Next try"],
            rows: worst.map(failingRow),
            more: more
        )
    }

    private func failingRow(_ account: AgentStatus.Accounts.Failing) -> HTML {
        let failure = account.failure
        return """
            <tr><th scope="row"><code>\(account.account)</code></th>
            <td data-label="Poll"><div>\(failure.poll)</div></td>
            <td data-label="Reason"><div>\(failure.problem)</div></td>
            <td data-label="Since"><div>\(times.ageAndTime(failure.since))</div></td>
            <td data-label="Failures"><div>\(failure.failures)</div></td>
            <td data-label="Next try"><div>\(times.ageAndTime(failure.nextTry, never: "none planned"))</div></td></tr>

            """
    }
}
