import StarwatchCore
import Synchronization

/// The text of the `Date` header. It is made once a second while answers are sent, and never while none are.
final class DateHeader: Sendable {
    private let now: @Sendable () -> Timestamp
    private let last = Mutex((second: Int64.min, text: ""))

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    var text: String {
        let now = now()
        return last.withLock { last in
            let second = now.milliseconds / 1000
            if last.second != second { last = (second, HTTPDate.format(now)) }
            return last.text
        }
    }
}
