import Starwatch
import StarwatchCore
import Yams

/// The settings of what notifications say.
extension ConfigurationReader {
    mutating func readCatalogues(_ section: SettingsSection) {
        var folder: String?
        section.optionalText("catalogues", &folder)
        guard let folder else { return }
        do throws(CatalogueFolder.Problem) {
            let catalogues = try CatalogueFolder.read(files.path(folder))
            options.delivery.catalogues = MessageCatalogues.builtIn.adding(catalogues)
            options.delivery.catalogueFolder = files.path(folder)
        } catch {
            section.report(error.message, at: "catalogues")
        }
    }

    /// Handles identify projects, so no problem repeats one.
    mutating func readProjectNames(_ section: SettingsSection) {
        let names = section.section("project_names")
        guard !names.isMisplaced else { return }
        for entry in names.entries {
            guard let name = entry.value.scalar?.string, !entry.value.isNull, !name.isEmpty,
                ProjectHandle(entry.key) != nil
            else {
                journal.report("must be handles with a name each.", at: names.path, line: entry.line ?? names.line)
                continue
            }
            options.delivery.projectNames[entry.key] = name
        }
        if let line = section.entry("project_names")?.line { journal.note(names.path, line: line) }
    }
}
