import StarwatchCore

@testable import Starwatch

extension OutgoingNotification {
    /// A notification of one change, whose project has a name that no header may carry.
    static func sample(_ id: String = "ntf_1", name: String = "Jardin d’Été 🌻", padding: Int = 0) -> Self {
        OutgoingNotification(
            id: id,
            runID: "run_1",
            poll: "starred_projects",
            group: .single,
            count: 1,
            text: ("Project Update", "\(name) has been updated"),
            payload: Array(
                #"{"id":"\#(id)","count":1,"body":"\#(name) has been updated\#(String(repeating: " ", count: padding))"}"#
                    .utf8
            )
        )
    }
}
