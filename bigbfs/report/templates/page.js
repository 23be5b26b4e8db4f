"use strict";
(() => {
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const packed = json("levels");
  const levels = [];
  for (const [graph, contender, count, width, directions] of packed.series) {
    for (let k = 0; k < count; ++k) {
      const point = {
        level: k * width,
        graph: packed.graphs[graph],
        contender: packed.contenders[contender],
        direction: directions[k] === "u" ? "up" : "down",
      };
      for (const name of ["frontier", "checked", "ms"]) {
        const value = packed[name][levels.length];
        if (value !== null) point[name] = value;
      }
      levels.push(point);
    }
  }

  const narrow = matchMedia("(max-width: 640px)").matches;
  const views = [];
  const drawn = [...document.querySelectorAll("[data-spec]")].map(async (place) => {
    const spec = json(place.dataset.spec);
    if (spec.data?.name === "levels") spec.datasets = { levels };
    if (narrow) Object.assign(spec.config.legend, { labelFontSize: 10, labelLimit: 104, columnPadding: 4 });
    const fewer = (key, value) => (key === "columns" ? (value > 3 ? 2 : 1) : value);
    const fitting = narrow ? JSON.parse(JSON.stringify(spec), fewer) : spec;
    const { view } = await vegaEmbed(place, fitting, { renderer: "svg", actions: false });
    views.push(view);
    return view;
  });

  const picker = document.getElementById("graph");
  const pick = async () => {
    for (const view of views) {
      if (view.getState().signals && "graph" in view.getState().signals) await view.signal("graph", picker.value).runAsync();
    }
  };
  picker.addEventListener("change", pick);

  const table = document.getElementById("table");
  const compare = (left, right, column) => {
    const [a, b] = [left, right].map((row) => row.cells[column].dataset.key);
    if (a === "" || b === "") return 0;
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (!head) return;
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const known = (row) => row.cells[head.cellIndex].dataset.key !== "";
    const rows = [...table.tBodies[0].rows];
    const sorted = rows.filter(known).sort((left, right) => sign * compare(left, right, head.cellIndex));
    table.tBodies[0].append(...sorted, ...rows.filter((row) => !known(row)));
  });

  window.ready = Promise.all(drawn).then(pick).then(() => views.length);
})();
