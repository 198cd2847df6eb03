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
tip.hidden = true;
document.body.append(tip);
let here = null;
const leave = () => {
  if (here) here.classList.remove('here');
  here = null;
  tip.hidden = true;
};
for (const picture of document.querySelectorAll('figure > svg')) {
  let marks = null;
  picture.addEventListener('pointermove', (e) => {
    if (!marks)  // their own titles would show as well, later
      marks = [...picture.querySelectorAll('title')].map((title) => {
        const mark = title.parentNode, text = title.textContent;
        title.remove();
        mark.setAttribute('aria-label', text);
        return [mark, text];
      });
    const far = 28;
    let best = null, least = far * far;
    for (const [mark, text] of marks) {
      const box = mark.getBoundingClientRect();
      const dx = Math.max(box.left - e.clientX, 0, e.clientX - box.right);
      const dy = Math.max(box.top - e.clientY, 0, e.clientY - box.bottom);
      if (dx * dx + dy * dy < least) [best, least] = [[mark, text, box], dx * dx + dy * dy];
    }
    leave();
    if (!best) return;
    here = best[0];
    here.classList.add('here');
    tip.textContent = best[1];
    tip.hidden = false;
    const box = best[2], right = box.right + 12 + tip.offsetWidth < innerWidth;
    tip.style.left = scrollX + (right ? box.right + 8 : box.left - 8 - tip.offsetWidth) + 'px';
    tip.style.top = scrollY + Math.max(box.top - 10, 0) + 'px';
  });
  picture.addEventListener('pointerleave', leave);
}
