import FoundationEssentials
import GRDB
import StarwatchCore

extension Row {
    /// The fields that differed from the plan's snapshot when the row was stored.
    func changedFields(_ index: Int) throws -> [String: FieldChange]? {
        guard let text = self[index] as String? else { return nil }
        guard let fields = try? JSONDecoder().decode([String: FieldChange].self, from: Data(text.utf8)) else {
            throw Self.damaged
        }
        return fields
    }
}
