import ArgumentParser
import StarwatchHTTP

struct OpenAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "openapi",
        "Print the description of the control API, as OpenAPI 3.1.",
        "A running agent serves the same at /api/v1/openapi.json.",
        examples: ["starwatch openapi > openapi.json"]
    )

    func run() { print(String(decoding: APIDescription.json, as: UTF8.self)) }
}
