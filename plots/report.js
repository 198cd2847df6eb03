// What report.py's page does beyond being read: tables sort and filter, figures show values.
'use strict';
for (const table of document.querySelectorAll('table.data')) {
  const body = table.tBodies[0], all = [...body.rows];
  const key = (row, i) => {
    const text = row.cells[i].textContent, x = text === '' ? NaN : Number(text);
    return Number.isNaN(x) ? text : x;
  };
  [...table.tHead.rows[0].cells].forEach((th, i) => {
    const button = document.createElement('button');
    button.append(...th.childNodes);
    th.append(button);
    button.onclick = () => {
      const down = th.ariaSort === 'ascending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const keyed = all.map((row) => [key(row, i), row]);
      keyed.sort(([a], [b]) => {
        if (a === '' || b === '') return (a === '') - (b === '');  // what is missing comes last
        const numbers = (typeof b === 'number') - (typeof a === 'number');
        const order = numbers || (a < b ? -1 : a > b ? 1 : 0);
        return down ? -order : order;
      });
      body.append(...keyed.map(([, row]) => row));
    };
  });
  if (all.length < 6) continue;
  const find = document.createElement('input'), said = document.createElement('small');
  find.className = 'find';
  find.type = 'search';
  find.placeholder = 'Filter: words that a row has';
  find.setAttribute('aria-label', find.placeholder);
  find.oninput = () => {
    const words = find.value.toLowerCase().split(' ').filter(Boolean);
    let shown = 0;
    for (const row of all) {
      const text = [...row.cells].map((c) => c.textContent).join(' ').toLowerCase();
      row.hidden = !words.every((w) => text.includes(w));
      shown += !row.hidden;
    }
    said.textContent = words.length ? ` ${shown} of ${all.length}` : '';
  };
  table.parentNode.before(find, said);
}
const flags = {};
for (const dt of document.querySelectorAll('dl.all dt'))
  flags['#' + dt.id] = dt.nextElementSibling.textContent;
document.addEventListener('mouseover', (e) => {
  const link = e.target.closest && e.target.closest('a[href^="#flag-"]');
  if (link && !link.title) link.title = flags[link.hash] || '';
});
const tip = document.createElement('div');
tip.id = 'tip';
tip.setAttribute('role', 'status');  // read out as arrow keys go from mark to mark
tip.hidden = true;
document.body.append(tip);
let here = null;
const leave = () => {
  if (here) here.classList.remove('here');
  here = null;
  tip.hidden = true;
};
const show = (mark, text) => {
  leave();
  here = mark;
  here.classList.add('here');
  tip.textContent = text;
  tip.hidden = false;
  const box = mark.getBoundingClientRect(), right = box.right + 12 + tip.offsetWidth < innerWidth;
  const left = right ? box.right + 8 : Math.max(box.left - 8 - tip.offsetWidth, 0);
  tip.style.left = scrollX + left + 'px';
  tip.style.top = scrollY + Math.max(box.top - 10, 0) + 'px';
};
for (const picture of document.querySelectorAll('.picture > svg')) {
  let marks = null, at = -1;
  const collect = () => {  // their own titles would show as well, later
    marks = marks || [...picture.querySelectorAll('title')].map((title) => {
      const mark = title.parentNode, text = title.textContent;
      title.remove();
      mark.setAttribute('aria-label', text);
      return [mark, text];
    });
  };
  picture.tabIndex = 0;
  picture.addEventListener('pointermove', (e) => {
    collect();
    const far = 28;
    let best = null, least = far * far;
    marks.forEach(([mark], i) => {
      const box = mark.getBoundingClientRect();
      const dx = Math.max(box.left - e.clientX, 0, e.clientX - box.right);
      const dy = Math.max(box.top - e.clientY, 0, e.clientY - box.bottom);
      if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy];
    });
    leave();
    if (best !== null) show(...marks[at = best]);
  });
  picture.addEventListener('keydown', (e) => {
    collect();
    const last = marks.length - 1, curves = marks.map(([mark]) => mark.parentNode);
    const beside = (step) => {  // as far along the next curve
      const all = [...new Set(curves)], curve = all[all.indexOf(curves[at]) + step];
      const far = at - curves.indexOf(curves[at]);
      return curve && Math.min(curves.indexOf(curve) + far, curves.lastIndexOf(curve));
    };
    const to = {
      ArrowRight: Math.min(at + 1, last),
      ArrowLeft: Math.max(at - 1, 0),
      ArrowDown: at < 0 ? 0 : beside(1),
      ArrowUp: at < 0 ? 0 : beside(-1),
      Home: 0,
      End: last,
    }[e.key];
    if (e.key === 'Escape') leave();
    if (to === undefined) return;
    e.preventDefault();
    marks[at = to][0].scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
    show(...marks[at]);
  });
  picture.addEventListener('pointerleave', leave);
  picture.addEventListener('blur', leave);
}
