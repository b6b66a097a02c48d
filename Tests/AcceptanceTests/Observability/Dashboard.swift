import Foundation

/// A Grafana dashboard, as far as the tests read it.
struct Dashboard: Decodable {
    struct Panel: Decodable {
        let id: Int
        let type: String
        let title: String?
        let description: String?
        let datasource: Source?
        let gridPos: Grid
        let options: Options?
        let transformations: [Transformation]?
        let targets: [Target]?
        let panels: [Panel]?

        /// Names of a table's columns: what the query calls them, to what the table does.
        var columns: [String: String] {
            (transformations ?? []).reduce(into: [:]) { $0.merge($1.options.renameByName ?? [:]) { _, new in new } }
        }
    }

    struct Options: Decodable {
        struct Order: Decodable, Equatable {
            let displayName: String
            let desc: Bool
        }

        let sortBy: [Order]?
    }

    struct Transformation: Decodable {
        struct Options: Decodable { let renameByName: [String: String]? }

        let options: Options
    }

    struct Target: Decodable {
        let refId: String
        let expr: String
        let legendFormat: String?
        let instant: Bool?
        let datasource: Source?
    }

    struct Grid: Decodable {
        let x, y, w, h: Int

        func overlaps(_ other: Grid) -> Bool {
            x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h
        }
    }

    struct Source: Decodable {
        let type: String
        let uid: String
    }

    struct Variable: Decodable {
        struct Query: Decodable {
            let text: String

            init(from decoder: any Decoder) throws {
                struct Object: Decodable { let query: String }
                text = try (try? decoder.singleValueContainer().decode(String.self)) ?? Object(from: decoder).query
            }
        }

        let name: String
        let type: String
        let query: Query
        let definition: String?
        let datasource: Source?
    }

    struct Annotation: Decodable {
        let name: String
        let expr: String?
        let titleFormat: String?
        let textFormat: String?
        let datasource: Source?
    }

    private struct List<Element: Decodable>: Decodable { let list: [Element] }

    let title: String
    let uid: String
    let panels: [Panel]
    let variables: [Variable]
    let annotations: [Annotation]

    private enum CodingKeys: CodingKey { case title, uid, panels, templating, annotations }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.decode(String.self, forKey: .title)
        uid = try container.decode(String.self, forKey: .uid)
        panels = try container.decode([Panel].self, forKey: .panels)
        variables = try container.decode(List<Variable>.self, forKey: .templating).list
        annotations = try container.decode(List<Annotation>.self, forKey: .annotations).list
    }

    /// The dashboards of the repository.
    static func all() throws -> [Dashboard] {
        try Repository.files(in: "dashboards", ending: "json").map {
            try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: $0))
        }
    }

    /// Every panel, those within rows too.
    var allPanels: [Panel] { panels + panels.flatMap { $0.panels ?? [] } }

    /// The queries of the panels.
    var panelQueries: [PlacedQuery] {
        allPanels.flatMap { panel in
            (panel.targets ?? []).map { target in
                PlacedQuery(
                    place: "\(uid) #\(panel.id) \(panel.title ?? ""), \(target.refId)",
                    expression: target.expr,
                    legend: PlacedQuery.labels(in: target.legendFormat)
                )
            }
        }
    }

    /// The queries of the vertical lines.
    var annotationQueries: [PlacedQuery] {
        annotations.compactMap { annotation in
            annotation.expr.map { expression in
                PlacedQuery(
                    place: "\(uid) annotation \(annotation.name)",
                    expression: expression,
                    legend: PlacedQuery.labels(in: annotation.titleFormat)
                        + PlacedQuery.labels(in: annotation.textFormat)
                )
            }
        }
    }
}
