/// The output of `starwatch config default`: every setting with its default and a comment.
enum DefaultConfiguration {
    static var text: String { header + ConfigurationPrinter.defaults }

    private static let header = """
        # Starwatch's configuration: every setting with its default. Settings you leave out keep their default; unknown
        # settings are errors. Check the file with 'starwatch check --config FILE'.
        #
        # Durations: 250ms, 30s, 5m, 4h, 7d. Sizes: 64KiB, 10MiB. Relative paths start at this file's directory.
        # Never write keys, tokens or signing secrets here: name a file with mode 0600 (..._file). A file name without a
        # directory is also looked up in $CREDENTIALS_DIRECTORY.

        """
}
