/// Spreads the runs of many agents over time, to protect the server from simultaneous requests.
public enum Splay {
    /// A delay in `0 ..< splay` that depends only on the instance and the poll, so it survives restarts.
    public static func delay(instance: String, poll: PollName, within splay: Duration) -> Duration {
        let milliseconds = splay.wholeMilliseconds
        guard milliseconds > 0 else { return .zero }
        // FNV-1a. Swift's own hash has another seed in every process.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in instance.utf8 { add(byte) }
        add(0)
        for byte in poll.rawValue.utf8 { add(byte) }
        // FNV's high bits vary little for short texts, and they select the delay.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
        return .milliseconds(Int64(hash.multipliedFullWidth(by: UInt64(milliseconds)).high))
    }
}
