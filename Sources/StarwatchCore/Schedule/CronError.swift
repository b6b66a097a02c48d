/// The reason why a text is not a cron expression.
public enum CronError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There are not five fields.
    case fieldCount(found: Int)
    /// A value is not a number or name of its field, or outside the field's range.
    case value(field: CronField, text: String)
    /// A range ends before it begins.
    case range(field: CronField, text: String)
    /// A step is not a number from 1 to the number of the field's values.
    case step(field: CronField, text: String)
    /// A step follows a single value.
    case stepWithoutRange(field: CronField, text: String)
    /// The month and day fields name only dates that do not exist, such as 31 February.
    case neverFires

    /// One sentence with the field and its allowed values.
    public var description: String {
        switch self {
        case .fieldCount(let found):
            "A schedule has five fields (minute hour day-of-month month day-of-week), but this one has \(found)"
                + (found == 6 ? "; remove the field for seconds." : ".")
        case .value(let field, let text):
            "The \(field.rawValue) field of the schedule has '\(text.prefix(40))'; it accepts \(field.allowed), "
                + "lists, ranges, and '*'."
        case .range(let field, let text):
            "The \(field.rawValue) field of the schedule has the range '\(text.prefix(40))', which ends before it "
                + "begins; it accepts \(field.allowed) in rising order."
        case .step(let field, let text):
            "The \(field.rawValue) field of the schedule has '\(text.prefix(40))'; its step must be a number from "
                + "1 to \(field.valueCount)."
        case .stepWithoutRange(let field, let text):
            "The \(field.rawValue) field of the schedule has '\(text.prefix(40))'; a step follows '*' or a range "
                + "within \(field.allowed)."
        case .neverFires:
            "The schedule never fires: its day-of-month field names days that its month field (1-12) does not have."
        }
    }
}
