// Sort and filter the targets; open what a link leads to. Without this all is shown, in the order of the files.
const table = document.getElementById("verdicts");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const key = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
  table.querySelectorAll("th button").forEach((button, column) => {
    button.addEventListener("click", () => {
      const head = button.parentElement;
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (one, other) =>
        key(one, column).localeCompare(key(other, column), undefined, { numeric: true });
      rows.sort((one, other) => (down ? -order(one, other) : order(one, other)));
      body.append(...rows);
    });
  });
  const filter = document.getElementById("filter");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    document.getElementById("shown").value = words.length ? `${shown} of ${rows.length}` : "";
  });
}
function open() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let around = place; around; around = around.parentElement) {
    if (around.tagName === "DETAILS") around.open = true;
  }
  place.scrollIntoView();
}
addEventListener("hashchange", open);
open();
