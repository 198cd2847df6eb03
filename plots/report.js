// What report.py's page does beyond being read: sections fold all at once, tables sort and filter
// and are cards on a narrow screen, figures show values.
'use strict';
const parts = [...document.querySelectorAll('details.part')];
const fold = document.createElement('button');
const folded = () => parts.every((part) => !part.open);
const named_fold = () => { fold.textContent = folded() ? 'Unfold all' : 'Fold all'; };
fold.onclick = () => {
  const open = folded();
  for (const part of parts) part.open = open;
  named_fold();
};
for (const part of parts) part.addEventListener('toggle', named_fold);
named_fold();
document.querySelector('nav').append(fold);
const reveal = () => {  // what a link leads to, though it is folded
  const to = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!to) return;
  for (let at = to; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  to.scrollIntoView();
};
addEventListener('hashchange', reveal);
document.addEventListener('click', (e) => {  // also where the address has it already
  const link = e.target.closest && e.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal();
});
const narrow = matchMedia('(max-width: 40rem)');
const name_cells = () => {  // of the tables that are seen
  if (!narrow.matches) return;
  for (const table of document.querySelectorAll('table:not(.named)')) {
    if (table.closest('details:not([open])')) continue;
    const names = [...table.tHead.rows[0].cells].map((th) => th.textContent);
    for (const row of table.tBodies[0].rows)
      [...row.cells].forEach((td, i) => { td.dataset.name = names[i]; });
    table.classList.add('named');
  }
};
narrow.addEventListener('change', name_cells);
document.addEventListener('toggle', name_cells, true);
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
name_cells();
reveal();
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
    if (marks) return;
    const both = [...picture.parentNode.children].map((p) => [...p.querySelectorAll('.k, .b, .q')]);
    marks = both[[...picture.parentNode.children].indexOf(picture)].map((mark, i) => {
      const title = both[0][i].querySelector('title');
      const text = title ? title.textContent : both[0][i].getAttribute('aria-label');
      if (title && mark === both[0][i]) title.remove();
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
