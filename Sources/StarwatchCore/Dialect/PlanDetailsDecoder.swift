import FoundationEssentials

/// Reads what a page says of its plans. Apart from ``PageDecoder``, because most pages bring nothing new.
public enum PlanDetailsDecoder {
    /// The details by claim, of a page that passed its check. What cannot be read is left out.
    public static func decode(_ bytes: [UInt8]) -> [JWTID: PlanDetails] {
        guard let page = try? JSONDecoder().decode(Wire.self, from: Data(bytes)) else { return [:] }
        var found: [JWTID: PlanDetails] = [:]
        for item in page.data {
            guard let plan = item.plan, let id = plan.id else { continue }
            found[id] = plan.details
        }
        return found
    }

    private struct Wire: Decodable {
        var data: [Item]
    }

    private struct Item: Decodable {
        enum CodingKeys: String, CodingKey { case plan, planSummary }
        let plan: Plan?

        init(from decoder: any Decoder) throws {
            let fields = try? decoder.container(keyedBy: CodingKeys.self)
            func read(_ key: CodingKeys) -> Plan? {
                fields?.contains(key) == true ? try? fields?.decode(Plan.self, forKey: key) : nil
            }
            plan = read(.planSummary) ?? read(.plan)
        }
    }

    private struct Plan: Decodable {
        enum CodingKeys: String, CodingKey {
            case jwtId, name, description, startTime, endTime, locLat, locLon, url, image
        }

        let id: JWTID?
        var details = PlanDetails()

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            // A key that is not there costs an error, which costs more than the rest of the item.
            func value<Value: Decodable>(_ key: CodingKeys) -> Value? {
                container.contains(key) ? try? container.decode(Value.self, forKey: key) : nil
            }
            func text(_ key: CodingKeys) -> String? { value(key) }
            func number(_ key: CodingKeys) -> Double? { value(key) }
            id = text(.jwtId).flatMap { JWTID($0) }
            let keys: [(PlanDetails.Field, CodingKeys)] = [
                (.name, .name), (.description, .description), (.startTime, .startTime), (.endTime, .endTime),
                (.url, .url), (.image, .image),
            ]
            for (field, key) in keys { details[field] = text(key) }
            if let north = number(.locLat), let east = number(.locLon) { details[.location] = "\(north),\(east)" }
        }
    }
}
