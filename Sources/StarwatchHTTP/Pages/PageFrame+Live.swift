extension PageFrame {
    /// Fetches the page again when a notification arrives, and replaces its content.
    static let liveScript: HTML = """

        const latest = document.getElementById("feed")?.dataset.latest;
        if (latest !== undefined) {
          const events = new EventSource("api/v1/notifications/events?after=" + latest);
          const say = (text) => document.getElementById("live").textContent = text;
          let words = "Connecting…";
          const renew = async () => {
            const answer = await fetch("feed");
            if (!answer.ok) return;
            // The new page's style has another nonce than this page's policy.
            const text = (await answer.text()).replace(/<style[^]*?<[/]style>/g, "");
            const page = new DOMParser().parseFromString(text, "text/html");
            for (const part of ["main", ".asof"]) {
              document.querySelector(part).replaceWith(page.querySelector(part));
            }
            localise();
            say(words);
          };
          say(words);
          events.onopen = () => say(words = "Live: new notifications appear by themselves.");
          events.onerror = () => say(words = "The agent does not answer; reconnecting.");
          events.addEventListener("notification", renew);
          events.addEventListener("gap", renew);
        }

        """
}
