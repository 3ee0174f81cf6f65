// The board that writes your letter. It knows no game: squares, pieces, kinds of lines and limits come in the link, as a
// Sheet. It sends nothing and stores nothing; all texts go in as text, and nothing is drawn before each field is checked.
'use strict';

const MAX_BYTES = 65536, MAX_LETTER = 1900;

function demand(ok, x) {
  if (!ok) throw Error('malformed');
  return x;
}
function whole(x, low, high) { return demand(Number.isInteger(x) && x >= low && x <= high, x); }
function list(x, read, low = 0, high = 400) {
  demand(Array.isArray(x) && x.length >= low && x.length <= high);
  return x.map(item => read(item));
}
/* What a person wrote: control characters, line ends and marks that turn the direction of writing become blanks. */
function words(x, high = 400) {
  demand(typeof x === 'string' && x.length <= high);
  return x.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}]+/gu, ' ');
}
function text(x, high = 120) { return demand(words(x, high) === x, x); }

/* A set of cells, as a walk once round the board: `$` is one step, `%` two, and each `~` adds ninety. */
function walk(signs, size, from = -1) {
  demand(/^([$-}]|~+[$-}])*$/.test(text(signs, 400)));
  let steps = 0;
  const cells = (signs.match(/~*[$-}]/g) || []).map(step => {
    steps += 90 * (step.length - 1) + step.at(-1).charCodeAt(0) - 35;
    return (from + steps) % size;
  });
  return demand(steps <= size, cells);
}

/* Reads base64url of raw deflate of JSON. */
async function readSheet(payload) {
  demand(payload.length <= 8192 && /^[\w-]+$/.test(payload));
  const bytes = Uint8Array.from(atob(payload.replace(/-/g, '+').replace(/_/g, '/')), sign => sign.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader(), parts = [];
  for (let size = 0, part; !(part = await reader.read()).done;) {
    size += part.value.length;
    demand(size <= MAX_BYTES);
    parts.push(part.value);
  }
  return checkSheet(JSON.parse(await new Blob(parts).text()));
}

/* Returns the Sheet with long names and lists of cells, or throws. */
function checkSheet(s) {
  demand(s.v === 1);
  const [width, height, block, reserved] = s.g, size = whole(width, 1, 400) * whole(height, 1, 400);
  demand(size <= 400 && reserved === 0 && (whole(block, 0, 20)
    ? width % block === 0 && height % block === 0 && size / block / block <= 26 : width <= 26));
  const count = (x, high = 65535) => whole(x, 0, high), flag = (x = 0) => count(x, 1) === 1;
  const isArea = (x = 0) => x && whole(x, 2, 2);
  const look = x => demand(/^[*HovBx?.SORQTDdu][abn]$/.test(text(x)), x);

  const readField = ([type, ...x]) => {
    if (type === 'p') return { type, label: 'Piece', group: count(x[0], 1) };
    if (type === 't') return { type, label: 'To', set: count(x[0] ?? 0, 13), area: isArea(x[1]) };
    const field = { type, label: text(x[0]) };
    if (type === 'c' || type === 'k') {
      const options = walk(x[1], size), area = isArea(x[2]);
      // An area begins at its south-west corner.
      return demand(!area || options.every(cell => cell >= width && (cell + 1) % width), { ...field, options, area });
    }
    if (type === 'o' || type === 's') return { ...field, options: list(x[1], text, 1) };
    demand(type === '#');
    const low = count(x[1]), high = whole(x[2], low, low + 999);
    const first = whole(x[3] ?? Math.max(low, Math.min(high, 1)), low, high);
    return { ...field, first, options: Array.from({ length: high - low + 1 }, (_, n) => low + n) };
  };
  const readKind = kind => {
    const fields = list(kind.q, readField, 0, 8), place = fields.findIndex(isSquare);
    fields.forEach(({ type }, i) => {
      const before = fields[i - 1]?.type;
      demand(type === 't' ? before === 'p' : type !== 'k' || before === 'c' || before === 't');
    });
    const slot = (_, no, square) => demand(fields[no - 1] && (!square || fields[no - 1].type === 'p'), '');
    const form = x => demand(!/[{}]/.test(text(x).replace(/\{(\d)(@?)\}/g, slot).replace('{+}', '')), x);
    const puts = kind.w && list(kind.w, no => fields[whole(no, 0, fields.length - 1)], 2, 2);
    demand(!puts || '#o'.includes(puts[0].type) && 'ctk'.includes(puts[1].type));
    demand(place >= 0 || !kind.m && !kind.d);
    return {
      label: text(kind.n), form: form(kind.l), fields, place, keys: list(kind.u || [], form),
      puts: puts && kind.w, mark: kind.m && { look: look(text(kind.m).slice(0, 2)), text: form(kind.m.slice(2)) },
      needs: list(kind.d || [], ([cells, weight]) => [walk(cells, size), count(weight)]),
      leaves: flag(kind.a), alone: flag(kind.x), rank: count(kind.y ?? 0, 99),
    };
  };
  const readTally = ([label, of, what, low, high, each, cells]) => {
    demand(/^([#+]|=\d{1,5})$/.test(text(what)));
    const prices = list(of, kind => {
      const [index, price] = [kind].flat();
      return [kinds[whole(index, 0, kinds.length - 1)], price && count(price)];
    }, 1);
    return {
      label: text(label), prices: new Map(prices), what, low: count(low), high: whole(high, low, 65535), each: flag(each),
      cells: cells === undefined ? null : walk(cells, size),
    };
  };

  const zones = Array(size).fill('');
  list(s.z, ([colour, cells]) => {
    demand(/^[abcx]$/.test(text(colour)));
    walk(cells, size).forEach(cell => { zones[cell] ||= colour; });
  });
  demand(zones.some(zone => zone !== 'x') && typeof (s.n || {}) === 'object');
  const kinds = list(s.o, readKind, 1), [address, token, subject, first] = s.m;
  demand(/^[^\s@,?&%]{1,200}@[^\s@,?&%]{1,200}$/.test(text(address, 401)) && /^[0-9A-Za-z]{0,60}$/.test(text(token)));
  return {
    width, height, block, zones, kinds, titles: list(s.t, words, 5, 5), address, token,
    marks: list(s.k || [], ([of, label, cells]) => ({ look: look(of), text: text(label), cells: walk(cells, size) })),
    names: new Map(Object.entries(s.n || {}).map(([of, name]) => [look(of), text(name)])),
    pieces: list(s.p, ([id, at, label, of, group, weight, ...sets]) => ({
      id: text(id), at: whole(at, 0, size - 1), text: text(label), look: look(of), group: count(group, 1),
      weight: count(weight), sets: list(sets, set => walk(set, size, at)),
    })),
    tallies: list(s.r, readTally), subject: text(subject), first: list(first, text),
    lines: list(s.f || [], line => words(line, 998)), empty: text(s.e ?? ''), hint: text(s.h, 400),
    deadline: count(s.d ?? 1e11, 1e11),
  };
}

function isSquare(field) { return 'ptck'.includes(field.type); }

function squareName({ width, height, block }, cell) {
  const x = cell % width, y = Math.floor(cell / width), letter = n => String.fromCharCode(65 + n);
  if (!block) return letter(x) + (height - y);
  return letter(Math.floor(y / block) * (width / block) + Math.floor(x / block)) + (y % block * block + x % block + 1);
}

/* The letter goes to the club that made this page, with or without a tag behind a plus, and to nobody else. */
function isOfClub(address, club) {
  return address === club || address.replace(/\+[0-9A-Za-z]+(?=@[^@]+$)/, '') === club;
}

function mailto(body) {
  const [address, subject, text] = [sheet.address, sheet.subject, body].map(encodeURIComponent);
  return `mailto:${address.replace('%40', '@')}?subject=${subject}&body=${text}`;
}

/* ---- Lines: a kind with its values, or a text of one's own ---- */

const OWN = { fields: [], keys: [], needs: [], rank: 50 };
let sheet, lines, tries = 3e4;

function named(cell) { return squareName(sheet, cell); }
function row(cell) { return Math.floor(cell / sheet.width); }
function joined(by, ...parts) { return [...new Set(parts)].filter(Boolean).join(by); }
function sumOf(numbers) { return numbers.reduce((sum, x) => sum + Number(x), 0); }
/* The square of a value: a piece, or a square itself. */
function cellOf(value) { return value?.at ?? value; }

function shown(field, value) {
  if (value == null) return '';
  if (field.type === 's') return value.join(' ');
  return isSquare(field) ? value.id || named(cellOf(value)) : `${value}`;
}
function filled({ kind, values, number }, form) {
  return form.replace('{+}', number).replace(/\{(\d)(@?)\}/g, (_, no, square) => square
    ? named(values[no - 1].at) : shown(kind.fields[no - 1], values[no - 1]));
}
/* What a field can hold, given the fields before it. */
function optionsOf(kind, at, values) {
  const field = kind.fields[at], before = values[at - 1], { width } = sheet, set = kind.fields[at + 1]?.set;
  if (field.type === 'p') return sheet.pieces.filter(piece => piece.group === field.group && (set === undefined || piece.sets[set]?.length));
  if (field.type === 't') return before?.sets[field.set] || [];
  if (field.type !== 'k') return field.options;
  return field.options.filter(cell => before != null && cell !== before
    && Math.abs(cell % width - before % width) < 2 && Math.abs(row(cell) - row(before)) < 2);
}
/* Reads a line back, so that one from an earlier letter or changed by hand is judged like one from the board. */
function readLine(text) {
  const seek = (kind, values) => {
    const at = values.length, field = kind.fields[at], line = { kind, values, number: Number(/\d+/.exec(text)), text };
    // The form up to the first field without a value.
    const start = --tries < 0 ? '\n' : filled(line, kind.form.split(new RegExp(`\\{[${at + 1}-9]`))[0]);
    if (!text.startsWith(start)) return false;
    if (!field) return start === text && line;
    const said = field.type === 's' ? [[...new Set(text.split(' '))].filter(x => field.options.includes(x))] : optionsOf(kind, at, values);
    return said.reduce((found, value) => found || seek(kind, [...values, value]), false);
  };
  return sheet.kinds.reduce((found, kind) => found || seek(kind, []), false) || { kind: OWN, values: [], text };
}
function tallied(lines) {
  const { width, block } = sheet, side = block || 1;
  const blockOf = cell => Math.floor(row(cell) / side) * width + Math.floor(cell % width / side);
  return sheet.tallies.map(tally => {
    const { prices, what, each, cells, low, high } = tally, sums = new Map(each ? cells?.map(cell => [blockOf(cell), 0]) : [[0, 0]]);
    for (const { kind, values } of lines.filter(line => prices.has(line.kind))) {
      const cell = values[kind.fields.findIndex(field => 'ct'.includes(field.type))], key = each ? blockOf(cell) : 0;
      if (cells && !cells.includes(cell)) continue;
      const numbers = values.filter((_, i) => '#o'.includes(kind.fields[i].type)).map(x => Number(x) || 0);
      const worth = what === '#' ? 1 : what === '+' ? prices.get(kind) || sumOf(numbers) : Number(numbers.includes(Number(what.slice(1))));
      sums.set(key, (sums.get(key) || 0) + worth);
    }
    const all = [...sums.values()];
    return { ...tally, now: all[0] || 0, missing: all.filter(sum => sum < low).length, over: all.some(sum => sum > high) };
  });
}
/* The weight that a line's square still lacks. */
function lacking({ kind, values }) {
  const cell = values[kind.place], need = kind.needs.find(([cells]) => cells.includes(cell));
  const stay = sheet.pieces.filter(piece => piece.at === cell && !lines.some(line => line.kind.leaves && line.values.includes(piece)));
  const put = lines.filter(line => line.kind.puts && line.values[line.kind.puts[1]] === cell).map(line => line.values[line.kind.puts[0]]);
  return need ? Math.max(0, need[1] - sumOf([...stay.map(piece => piece.weight), ...put])) : 0;
}

/* ---- The page ---- */

const UNIT = 40, CORNER = 'the south-west corner of an area of four squares', cells = [];
let kind, values, at = 0, saved, isWritten = false, over;

function $(id) { return document.getElementById(id); }
function put(id, words) { if ($(id).textContent !== words) $(id).textContent = words; }
/* A new element: functions are its listeners, all else attributes. */
function make(tag, attributes, ...kids) {
  const { namespaceURI } = /^(svg|g|rect|text|use|path)$/.test(tag) ? $('tip') : document.body, made = document.createElementNS(namespaceURI, tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made[key] = value;
    else if (value !== false) made.setAttribute(key, value);
  }
  made.append(...kids);
  return made;
}
function place(cell) { return [cell % sheet.width * UNIT, row(cell) * UNIT]; }
function rect(look, cell, side = 1) {
  const [x, y] = place(cell);
  return make('rect', { class: look, x, y, width: side * UNIT, height: side * UNIT });
}
function shapeOf(look) { return $('shape-' + look[0]).dataset.shape.split('|'); }
function glyph(look, words, at = [0, 0]) {
  const [, x, y, font, more] = shapeOf(look), colours = `${look[1]} ${more}`;
  return make('g', { transform: `translate(${at})` },
    make('use', { href: '#shape-' + look[0], class: 'g ' + colours }),
    make('text', { class: 't ' + colours, x, y, 'font-size': words.length > 4 ? font * .78 : font }, words));
}
function spoken(look, ...words) { return joined(' ', sheet.names.get(look) || shapeOf(look)[0], ...words); }
function arrow(from, to) {
  const middle = cell => place(cell).map(n => n + UNIT / 2), [x, y] = middle(from), [p, q] = middle(to);
  const part = 10 / (Math.hypot(p - x, q - y) || 1), dx = (p - x) * part, dy = (q - y) * part;
  return make('path', { class: 'arrow', 'marker-end': 'url(#tip)', d: `M${x + dx} ${y + dy}L${p - dx} ${q - dy}` });
}

function build() {
  const { width, height, block } = sheet, pad = block ? 2 : 18, [wide, high] = [width, height].map(n => n * UNIT + pad + 2);
  const ground = make('g', {}, ...sheet.zones.map((zone, cell) => rect('z ' + zone, cell)));
  const label = (x, y, words, more) => ground.append(make('text', { class: `lab ${more}`, x, y }, words));
  const board = make('div', { class: 'cells', role: 'grid', 'aria-label': 'Board' });
  sheet.zones.forEach((_, cell) => {
    const [x, y] = place(cell);
    if (block && cell % width % block === 0 && row(cell) % block === 0) {
      ground.append(rect('blk', cell, block));
      label(x + 4, y + 14, named(cell)[0], 'block');
    }
    if (!block && row(cell) === height - 1) label(x + 20, y + UNIT + 14, named(cell)[0], 'file');
    if (!block && cell % width === 0) label(-9, y + 25, `${height - row(cell)}`, 'rank');
    if (cell % width === 0) board.append(make('div', { role: 'row' }));
    cells.push(make('button', { tabindex: -1, role: 'gridcell', 'data-cell': cell }));
    board.lastChild.append(cells[cell]);
  });
  board.style.inset = `${200 / high}% ${200 / wide}% ${100 * pad / high}% ${100 * pad / wide}%`;
  $('board').style.setProperty('--w', width);
  board.onclick = event => tap(nearest(event));
  board.onkeydown = step;
  over = make('g', {});
  $('board').append(make('svg', { viewBox: `${-pad} -2 ${wide} ${high}`, 'aria-hidden': 'true' }, ground, over), board);
}
function isOff(cell) { return sheet.zones[cell] === 'x'; }
function step(event) {
  const { key } = event, { width } = sheet;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width, Home: -1, End: 1 }[key];
  if (key === 'Escape') begin(kind);
  if (!by) return;
  event.preventDefault();
  let to = at;
  for (let next = at + by; cells[next] && (/Up|Down/.test(key) || row(next) === row(at)); next += by) {
    if (isOff(next)) continue;
    to = next;
    if (key.startsWith('Arrow')) break;
  }
  focusOn(to).focus();
}
function focusOn(cell) {
  cells[at].tabIndex = -1;
  at = cell;
  cells[at].tabIndex = 0;
  return cells[at];
}
/* A finger is wide: a tap counts for the nearest square that means something. */
function nearest({ target, detail, clientX, clientY }) {
  const own = cells.indexOf(target);
  if (own >= 0 && (!detail || means(own))) return own;
  const far = box => Math.hypot(Math.max(box.left - clientX, 0, clientX - box.right), Math.max(box.top - clientY, 0, clientY - box.bottom));
  const near = [...cells.keys()].filter(means).map(cell => [far(cells[cell].getBoundingClientRect()), cell]).sort((a, b) => a[0] - b[0])[0];
  return near?.[0] < 24 ? near[1] : own;
}

/* The first field that a square still has to fill, or -1. */
function open() { return kind.fields.findIndex((field, i) => isSquare(field) && values[i] == null); }
function choices() { return open() < 0 ? [] : optionsOf(kind, open(), values).map(cellOf); }
/* Whether a line of this kind can begin on this square. */
function canBegin(of, cell) { return of.place >= 0 && optionsOf(of, of.place, []).some(option => cellOf(option) === cell); }
function ordersPiece(of) { return of.fields[of.place]?.type === 'p'; }
function means(cell) { return choices().includes(cell) || sheet.kinds.some(of => ordersPiece(of) && canBegin(of, cell)); }
function begin(of, kept = []) {
  kind = of;
  values = kind.fields.map(({ type, first, options }, i) => kept[i] ?? { '#': first, o: options?.[0], s: [] }[type] ?? null);
  show();
}
function tap(cell) {
  if (cell < 0 || isOff(cell)) return;
  focusOn(cell);
  if (!choices().includes(cell)) {
    const other = [kind, ...sheet.kinds].find(of => canBegin(of, cell));
    begin(other || kind, other === kind ? unplaced() : []);
    if (!other) return;
  }
  const i = open(), here = optionsOf(kind, i, values).filter(option => cellOf(option) === cell);
  // Of several pieces on a square, the first without a line.
  values[i] = here.find(piece => !lines.some(line => line.values.includes(piece))) ?? here[0];
  if (open() < 0 && !kind.fields.some(of => of.type === 's')) add();
  else show();
}
/* What stays in the form after a line. */
function unplaced() { return values.map((value, i) => '#o'.includes(kind.fields[i].type) ? value : null); }
function add() {
  const line = { kind, values: values.slice(), number: 1 }, ofType = type => values.filter((_, i) => kind.fields[i].type === type);
  const keysOf = of => of.kind.keys.map(key => filled(of, key));
  if (ofType('s').some(chosen => !chosen.length)) return tell('Choose at least one.');
  if (Math.max(...ofType('#')) === 0) return tell('One of the numbers must be above 0.');
  while (lines.some(of => of.kind === kind && of.number === line.number)) line.number++;
  line.text = filled(line, kind.form);
  const keys = keysOf(line), stay = kind.alone ? [] : lines.filter(of => !of.kind.alone && !keysOf(of).some(key => keys.includes(key)));
  const above = tallied([...stay, line]).find(tally => tally.over);
  if (above) return tell(`${above.label}: at most ${above.high}.`);
  const rank = of => of.kind.rank || sheet.kinds.indexOf(of.kind) / 100;
  lines = [...stay, line].sort((a, b) => rank(a) - rank(b));
  tell(`${line.text} is in your letter.`);
}
function tell(words) {
  begin(kind, unplaced());
  put('say', open() < 0 ? words : `${words} ${$('say').textContent}`);
}

function show() {
  const missing = open(), field = kind.fields[missing], may = choices(), here = cells.map(() => []);
  const draw = (look, words, cell, ...aloud) => {
    over.append(glyph(look, words, place(cell)));
    here[cell].push(...aloud);
  };
  over.replaceChildren();
  sheet.marks.forEach(({ look, text, cells }) => cells.forEach(cell => draw(look, text, cell, spoken(look, text))));
  lines.filter(line => line.kind.mark).forEach(line => {
    const { mark, place } = line.kind;
    draw(mark.look, filled(line, mark.text), cellOf(line.values[place]), line.text);
  });
  cells.forEach((_, cell) => {
    const of = sheet.pieces.filter(piece => piece.at === cell);
    if (of.length) draw(of[0].look, of[1] ? '×' + of.length : of[0].text, cell, ...of.map(({ look, id, text }) => spoken(look, id, text)));
  });
  lines.forEach(line => line.kind.fields.forEach(({ type, area }, i) => {
    if (type === 't') over.append(arrow(line.values[i - 1].at, line.values[i]));
    if (area) over.append(rect('area', line.values[i] - sheet.width, 2));
  }));
  const chosen = values.filter((_, i) => isSquare(kind.fields[i])).map(cellOf);
  cells.forEach((button, cell) => {
    const can = may.includes(cell) && field, isChosen = chosen.includes(cell);
    button.className = joined(' ', isOff(cell) && 'off', can && (can.type === 'p' ? 'may' : 'to'), can.area && 'four', here[cell].length && 'full', isChosen && 'sel');
    button.setAttribute('aria-label', joined(', ', named(cell), ...here[cell], can && `can be chosen${can.area ? ` as ${CORNER}` : ''}`));
    button.setAttribute('aria-selected', isChosen);
  });
  $('board').lastChild.classList.toggle('many', may.length > cells.length * .4);
  $('kind-' + sheet.kinds.indexOf(kind)).checked = true;
  showFields(missing);
  showLines();
  put('say', prompt(field, may, values[missing - 1]));
}
function prompt(field, may, piece) {
  if (!field) return 'Press Add.';
  if (!may.length) return 'No square is open to this order now.';
  if (field.type === 'p') return `Choose a piece${field.group ? ' of your opponent' : ''}.`;
  const what = field.type === 't' ? ` for ${piece.id && piece.id + ' at '}${named(piece.at)}` : field.area || field.label === 'at' ? '' : `: ${field.label}`;
  return `Choose ${field.area ? CORNER : 'a square'}${what}.`;
}
function showFields(missing) {
  const form = $('fields'), focused = [...form.children].findIndex(of => of.contains(document.activeElement));
  form.replaceChildren(...kind.fields.map((field, i) => {
    const label = make('span', {}, (field.label || 'Which') + (field.area ? ', south-west corner' : '')), options = [...optionsOf(kind, i, values)];
    if (field.type === 's') {
      const choose = x => () => { values[i].push(x); show(); };
      const chips = options.filter(x => !values[i].includes(x)).map(x => make('button', { type: 'button', class: 'chip', onclick: choose(x) }, x));
      label.append(`: ${values[i].join(' ') || '…'}`);
      return make('div', { class: 'whole' }, label, make('span', { class: 'seq' }, ...chips));
    }
    const words = option => option.sets ? joined(' · ', option.id, option.text, named(option.at)) : shown(field, option);
    if (isSquare(field) && field.type !== 'p') options.sort((a, b) => named(a).localeCompare(named(b), 'en', { numeric: true }));
    const onchange = event => {
      values[i] = options[event.target.value] ?? null;
      // Later fields depend on it.
      for (let n = i + 1; 'tk'.includes(kind.fields[n]?.type ?? '-'); n++) values[n] = null;
      show();
    };
    const items = options.map((option, n) => make('option', { value: n, selected: option === values[i] }, words(option)));
    if (isSquare(field)) items.unshift(make('option', { value: '' }, '–'));
    return make('label', {}, label, make('select', { onchange }, ...items));
  }), make('button', { disabled: missing >= 0 }, 'Add'));
  if (focused >= 0) (form.children[focused]?.querySelector('select, .chip') || form.querySelector('select') || form.lastChild).focus();
}
function remark(line) {
  const missing = lacking(line);
  if (missing) return `${missing} more must stay there`;
  return joined(', ', isWritten && !saved.includes(line.text) && 'not yet written', line.kind === OWN && 'yours');
}
function showLines() {
  $('lines').replaceChildren(...lines.map((line, n) => {
    const item = $('line').content.firstElementChild.cloneNode(true), [box, , off] = item.children;
    box.value = line.text;
    box.setAttribute('aria-label', `Order ${n + 1}`);
    box.onchange = () => {
      const changed = words(box.value, 1e9).trim();
      if (!changed) return off.click();
      box.value = changed;
      Object.assign(line, readLine(changed));
      showLetter();
    };
    off.setAttribute('aria-label', `Remove ${line.text || 'this line'}`);
    off.onclick = () => {
      lines = lines.filter(of => of !== line);
      show();
      ($('lines').children[Math.min(n, lines.length - 1)]?.lastElementChild || $('orders')).focus();
    };
    return item;
  }));
  showLetter();
}
function texts() { return lines.map(line => line.text).filter(Boolean); }
function isSaved() { return texts().join('\n') === saved.join('\n'); }
/* The footer with the token stands last, so that a letter that was cut short is refused whole. */
function body(orders) { return [...orders, ...sheet.token ? ['', '-- ', `Reply token: ${sheet.token}`] : [], ''].join('\r\n'); }
function showLetter() {
  const own = texts(), orders = own.length || !sheet.empty ? own : [sheet.empty], letter = body([...sheet.first, ...orders]);
  const tallies = lines.some(line => line.kind.alone) ? [] : tallied(lines), href = mailto(letter), long = href.length > MAX_LETTER;
  const range = ({ low, high }) => low === high ? high : low ? `${low} to ${high}` : `at most ${high}`;
  lines.forEach((line, n) => { $('lines').children[n].children[1].textContent = remark(line); });
  put('hint', lines.length ? '' : sheet.hint + (sheet.empty && ` Without any, the letter says ${sheet.empty}.`));
  $('tally').replaceChildren(...tallies.map(tally => make('li', { class: tally.over ? 'over' : tally.missing ? '' : 'ok' },
    `${tally.label}: ${tally.each ? range(tally) + (tally.missing ? `, ${tally.missing} to go` : '') : `${tally.now} of ${range(tally)}`}`)));
  const isReady = orders.length && !lines.some(lacking) && (!tallies.some(tally => tally.missing) || lines.some(line => line.kind === OWN));
  $('mail').classList.toggle('wait', !isReady);
  $('mail').href = long ? mailto(body(['(paste the letter here)'])) : href;
  $('mail').onclick = long ? copy : noteWritten;
  put('mail', long ? 'Copy, and open a letter' : 'Write the letter');
  put('text', letter.replace(/\r/g, ''));
  put('due', sheet.titles[3] + (Date.now() > sheet.deadline * 1000 ? ' — past. A newer letter may be in your mailbox.' : ''));
  [...$('note').children].forEach((said, n) => { said.hidden = n !== (!isWritten ? 0 : isSaved() ? 1 : 2); });
}
function noteWritten() {
  saved = texts();
  isWritten = true;
  showLetter();
}
async function copy() {
  noteWritten();
  try {
    await navigator.clipboard.writeText($('text').textContent);
    put('copy', 'Copied');
  } catch {
    $('whole').open = true;
    getSelection().selectAllChildren($('text'));
    put('copy', 'Select and copy');
  }
  setTimeout(() => put('copy', 'Copy'), 2500);
}

function startPage() {
  lines = sheet.lines.map(readLine);
  saved = texts();
  document.title = `${sheet.titles[0]}: ${sheet.titles[2]}`;
  ['match', 'players', 'turn', 'due', 'club'].forEach((id, n) => put(id, sheet.titles[n]));
  build();
  focusOn(sheet.zones.findIndex(zone => zone !== 'x'));
  sheet.kinds.forEach((of, n) => {
    // A piece that is chosen stays so, if it can do this, too.
    const onchange = () => begin(of, ordersPiece(of) && optionsOf(of, 0, []).includes(values[0]) ? [values[0]] : []);
    $('kinds').append(make('input', { type: 'radio', name: 'kind', id: `kind-${n}`, class: 'hide', onchange }), make('label', { for: `kind-${n}` }, of.label));
  });
  $('kinds').hidden = sheet.kinds.length < 2;
  new Map([...sheet.pieces, ...sheet.marks].map(of => [of.look, of.text])).forEach((words, look) => {
    const name = sheet.names.get(look);
    if (name) $('key').append(make('li', {}, make('svg', { viewBox: '0 0 40 40', 'aria-hidden': 'true' }, glyph(look, words)), name));
  });
  $('fields').onsubmit = event => { event.preventDefault(); if (open() < 0) add(); };
  $('copy').onclick = copy;
  $('clear').onclick = () => { lines = []; begin(kind); };
  $('own').onclick = () => {
    lines.push({ kind: OWN, values: [], text: '' });
    show();
    $('lines').lastChild.firstElementChild.focus();
  };
  addEventListener('beforeunload', event => { if (texts().length && !isSaved()) event.preventDefault(); });
  addEventListener('beforeprint', () => { $('whole').open = true; });
  $('desk').hidden = false;
  begin(sheet.kinds.find(ordersPiece) || sheet.kinds[0]);
}

async function loadPage() {
  addEventListener('hashchange', () => location.reload());
  if (!location.hash) return;
  sheet = await readSheet(location.hash.slice(1)).catch(() => null);
  if (sheet && isOfClub(sheet.address, $('club-address').content)) startPage();
  else put('turn', $(sheet ? 'elsewhere' : 'damaged').textContent);
}

if (globalThis.document) loadPage();
