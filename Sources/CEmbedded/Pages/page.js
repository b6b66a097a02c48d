const day = (date) => date.toLocaleDateString("sv-SE");
const localise = () => {
  const shown = document.querySelector("header time");
  const today = shown && day(new Date(shown.dateTime));
  for (const time of document.querySelectorAll("time")) {
    const date = new Date(time.dateTime), clock = time.querySelector("small");
    if (isNaN(date)) continue;
    time.title = clock.textContent;
    clock.textContent = (today === day(date) ? "" : day(date) + " ") + date.toLocaleTimeString("sv-SE");
  }
  const zone = document.getElementById("zone");
  if (zone) zone.textContent = " " + Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ");
};
localise();
