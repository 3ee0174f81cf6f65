// The board that writes your letter. It knows no game: squares, pieces, kinds of lines and limits come in the link, as a
// Sheet. It sends nothing and stores nothing; all texts go in as text, and nothing is drawn before each field is checked.
'use strict';

/* ---- The Sheet: read from the link, and checked ---- */

const MAX_BYTES = 65536, MAX_LETTER = 1900;

function demand(ok) {
  if (!ok) throw new Error('malformed');
  return ok;
}
function whole(x, low, high) {
  demand(Number.isInteger(x) && x >= low && x <= high);
  return x;
}
function list(x, low = 0, high = 400) {
  demand(Array.isArray(x) && x.length >= low && x.length <= high);
  return x;
}
function text(x, high = 120) {
  demand(typeof x === 'string' && x.length <= high && tidied(x) === x);
  return x;
}
/* Control characters, line ends and marks that turn the direction of writing become blanks. */
function tidied(x) {
  return x.replace(/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ');
}
/* What a person wrote may hold anything. */
function words(x, high = 400) {
  demand(typeof x === 'string' && x.length <= high);
  return tidied(x);
}

/* A set of cells, as a walk once round the board: `$` is one step, `%` two, and each `~` adds ninety. */
function walk(signs, size, from = -1) {
  demand(typeof signs === 'string' && /^([$-}]|~+[$-}])*$/.test(signs));
  const cells = new Set();
  let steps = 0;
  for (const sign of signs) {
    if (sign === '~') { steps += 90; continue; }
    steps += sign.charCodeAt(0) - 35;
    cells.add((from + steps) % size);
  }
  demand(steps <= size);
  return cells;
}

/* Reads base64url of raw deflate of JSON, of at most 64 kB. */
async function readSheet(payload) {
  demand(payload.length <= 8192 && /^[\w-]+$/.test(payload));
  const bytes = Uint8Array.from(atob(payload.replace(/-/g, '+').replace(/_/g, '/')), sign => sign.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_BYTES) { reader.cancel().catch(() => {}); demand(false); }
    parts.push(value);
  }
  return checkSheet(JSON.parse(await new Blob(parts).text()));
}

/* Returns the Sheet with long names and sets of cells, or throws if any field is not as it should be. */
function checkSheet(s) {
  demand(s && typeof s === 'object' && s.v === 1);
  const [width, height, block] = list(s.g, 4, 4);
  const size = whole(width, 1, 400) * whole(height, 1, 400);
  demand(size <= 400 && s.g[3] === 0);
  if (whole(block, 0, 20)) demand(width % block === 0 && height % block === 0 && size / block / block <= 26);
  else demand(width <= 26);
  const grid = { width, height, block, size };
  const look = x => demand(/^[*HovBx?.SORQTDdu][abn]$/.test(x)) && x;
  const flag = x => x === undefined ? false : whole(x, 0, 1) === 1;

  const zones = Array(size).fill('');
  for (const [colour, cells] of list(s.z, 0, 8).map(zone => list(zone, 2, 2))) {
    demand(/^[abcx]$/.test(colour));
    walk(cells, size).forEach(cell => { zones[cell] = zones[cell] || colour; });
  }
  demand(zones.some(zone => zone !== 'x'));
  const marks = list(s.k || []).map(mark => list(mark, 3, 3))
    .map(mark => ({ look: look(mark[0]), text: text(mark[1]), cells: walk(mark[2], size) }));
  demand(s.n === undefined || s.n && typeof s.n === 'object');
  const names = new Map(Object.entries(s.n || {}).map(([key, name]) => [look(key), text(name)]));
  const pieces = list(s.p).map(piece => list(piece, 6, 20)).map(([id, at, label, shape, group, weight, ...sets]) => ({
    id: text(id), at: whole(at, 0, size - 1), text: text(label), look: look(shape), group: whole(group, 0, 1),
    weight: whole(weight, 0, 65535), sets: sets.map(set => walk(set, size, at)),
  }));
  const kinds = list(s.o, 1, 20).map(kind => checkKind(kind, grid, look, flag));
  const tallies = list(s.r, 0, 30).map(tally => list(tally, 5, 7)).map(([label, of, what, low, high, each, cells]) => {
    const prices = new Map(list(of, 1, 20).map(kind => {
      const [index, price] = Array.isArray(kind) ? list(kind, 2, 2) : [kind, null];
      return [whole(index, 0, kinds.length - 1), price === null ? null : whole(price, 0, 65535)];
    }));
    demand(/^([#+]|=\d{1,5})$/.test(what));
    return {
      label: text(label), prices, what, low: whole(low, 0, 65535), high: whole(high, low, 65535), each: flag(each),
      cells: cells === undefined ? null : walk(cells, size),
    };
  });
  const [match, players, turn, due, club] = list(s.t, 5, 5).map(x => words(x));
  const [address, token, subject, first] = list(s.m, 4, 4);
  demand(/^[^\s@,?&%]{1,200}@[^\s@,?&%]{1,200}$/.test(address) && /^[0-9A-Za-z]{0,60}$/.test(token));
  return {
    grid, zones, marks, names, pieces, kinds, tallies, match, players, turn, due, club, address, token,
    subject: text(subject), first: list(first, 0, 5).map(line => text(line)),
    empty: s.e === undefined ? '' : text(s.e), hint: text(s.h, 400), lines: list(s.f || []).map(line => words(line, 998)),
    deadline: s.d === undefined ? Infinity : whole(s.d, 0, 1e11),
  };
}

/* A kind of line. Its fields come in order: a target follows a piece, and a square beside another follows a square. */
function checkKind(kind, { width, size }, look, flag) {
  demand(kind && typeof kind === 'object');
  const fields = list(kind.q, 0, 8).map(field => {
    const [type, ...rest] = list(field, 1, 5);
    if (type === 'p') return { type, label: 'Piece', group: whole(list(rest, 1, 1)[0], 0, 1), set: null };
    if (type === 't') {
      return { type, label: 'To', set: whole(list(rest, 0, 2).length ? rest[0] : 0, 0, 13), area: rest.length > 1 && !!whole(rest[1], 2, 2) };
    }
    const label = text(rest[0]);
    if (type === 'c' || type === 'k') {
      const area = list(rest, 2, 3).length > 2 && !!whole(rest[2], 2, 2), cells = walk(rest[1], size);
      // An area begins at its south-west corner.
      if (area) cells.forEach(cell => demand(cell >= width && (cell + 1) % width));
      return { type, label, cells, area };
    }
    if (type === 'o' || type === 's') return { type, label, texts: list(list(rest, 2, 2)[1], 1, 200).map(x => text(x)) };
    demand(type === '#');
    const low = whole(list(rest, 3, 4)[1], 0, 65535), high = whole(rest[2], low, low + 999);
    return { type, label, low, high, first: rest.length > 3 ? whole(rest[3], low, high) : Math.max(low, Math.min(high, 1)) };
  });
  fields.forEach((field, at) => {
    const before = fields[at - 1];
    if (field.type === 't') {
      demand(before && before.type === 'p');
      before.set = field.set;
    }
    if (field.type === 'k') demand(before && 'ct'.includes(before.type));
  });
  const form = x => {
    for (const [, no, square] of text(x).matchAll(/\{(\d)(@?)\}/g)) {
      const field = demand(fields[no - 1]);
      demand(!square || field.type === 'p');
    }
    demand(!/[{}]/.test(x.replace(/\{(\d@?|\+)\}/g, '')));
    return x;
  };
  // A line is read back by its form, so two of its fields never touch.
  demand(!form(kind.l).includes('}{'));
  const puts = kind.w === undefined ? null : list(kind.w, 2, 2).map(at => whole(at, 0, fields.length - 1));
  demand(!puts || '#o'.includes(fields[puts[0]].type) && 'ctk'.includes(fields[puts[1]].type));
  const place = fields.findIndex(isSquare);
  demand(place >= 0 || !kind.m && !kind.d);
  return {
    label: text(kind.n), form: kind.l, fields, place, keys: list(kind.u || [], 0, 8).map(form), puts,
    mark: kind.m === undefined ? null : { look: look(text(kind.m).slice(0, 2)), text: form(kind.m.slice(2)) },
    needs: list(kind.d || []).map(need => list(need, 2, 2)).map(need => [walk(need[0], size), whole(need[1], 0, 65535)]),
    leaves: flag(kind.a), alone: flag(kind.x), rank: kind.y === undefined ? null : whole(kind.y, 0, 99),
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
  const at = club.lastIndexOf('@'), [local, domain] = [club.slice(0, at), club.slice(at)];
  const tag = address.startsWith(local + '+') && address.endsWith(domain) && address.slice(local.length + 1, -domain.length);
  return at > 0 && (address === club || !!tag && /^[0-9A-Za-z]+$/.test(tag));
}

function mailto(sheet, body) {
  const encode = x => encodeURIComponent(x).replace(/[!'()*]/g, sign => '%' + sign.charCodeAt(0).toString(16).toUpperCase());
  return `mailto:${encode(sheet.address).replace('%40', '@')}?subject=${encode(sheet.subject)}&body=${encode(body)}`;
}

/* ---- Lines: a kind and the values of its fields, or a text of one's own ---- */

function shown(sheet, field, value) {
  if (value == null) return '';
  if (field.type === 'p') return value.id || squareName(sheet.grid, value.at);
  return field.type === 's' ? value.join(' ') : isSquare(field) ? squareName(sheet.grid, value) : String(value);
}
function filled(sheet, { kind, values, number }, form) {
  return form.replace(/\{(\d)(@?)\}/g, (_, no, square) => square
    ? squareName(sheet.grid, values[no - 1].at) : shown(sheet, kind.fields[no - 1], values[no - 1])).replace('{+}', number);
}
/* The cells that the board offers for a field, given the fields before it. */
function offered(sheet, kind, at, values) {
  const field = kind.fields[at], before = values[at - 1];
  if (field.type === 'p') return new Set(sheet.pieces.filter(piece => canBe(field, piece)).map(piece => piece.at));
  if (field.type === 't') return before && before.sets[field.set] || new Set();
  if (field.type === 'c') return field.cells;
  if (field.type !== 'k' || before == null) return new Set();
  const { width } = sheet.grid, row = cell => Math.floor(cell / width);
  return new Set([...field.cells].filter(cell => cell !== before
    && Math.abs(cell % width - before % width) < 2 && Math.abs(row(cell) - row(before)) < 2));
}
function canBe(field, piece) {
  return piece.group === field.group && (field.set === null || !!piece.sets[field.set] && piece.sets[field.set].size > 0);
}
/* What a field can hold, given the fields before it. */
function optionsOf(sheet, kind, at, values) {
  const field = kind.fields[at], { type, low, high } = field;
  if (type === 'p') return sheet.pieces.filter(piece => canBe(field, piece));
  if (isSquare(field)) return [...offered(sheet, kind, at, values)];
  return type === '#' ? Array.from({ length: high - low + 1 }, (_, n) => low + n) : field.texts;
}
/* Reads a line back, so that one from an earlier letter or changed by hand is judged like one from the board. */
function readLine(sheet, text) {
  for (const kind of sheet.kinds) {
    const slots = [], values = [];
    const form = kind.form.replace(/[.*+?^$|()\\[\]]/g, '\\$&').replace(/\{(\d@?|\\\+)\}/g, (_, slot) => {
      slots.push(slot);
      return kind.fields[slot[0] - 1]?.type === 's' ? '(.+)' : '([^ ]+)';
    });
    const found = new RegExp(`^${form}$`).exec(text);
    if (!found) continue;
    const part = slot => found[slots.indexOf(slot) + 1 || found.length];
    kind.fields.forEach((field, at) => {
      const word = part(`${at + 1}`), square = part(`${at + 1}@`), options = optionsOf(sheet, kind, at, values);
      const isMeant = option => (word == null || shown(sheet, field, option) === word) && (square == null || squareName(sheet.grid, option.at) === square);
      const texts = field.type === 's' && word.split(' ');
      values.push(!texts ? options.find(isMeant) : texts.every((x, n) => options.includes(x) && texts.indexOf(x) === n) ? texts : null);
    });
    const line = { kind, values, number: Number(part('\\+') || 0), text };
    if (values.every(value => value != null) && filled(sheet, line, kind.form) === text) return line;
  }
  return { kind: null, values: [], number: 0, text };
}
/* What each tally of a Sheet comes to. */
function tallied(sheet, lines) {
  const { width, block } = sheet.grid, side = block || 1;
  const blockOf = cell => Math.floor(cell / width / side) * width + Math.floor(cell % width / side);
  return sheet.tallies.map(tally => {
    const sums = new Map();
    if (!tally.each) sums.set(0, 0);
    else if (tally.cells) tally.cells.forEach(cell => sums.set(blockOf(cell), 0));
    for (const { kind, values } of lines) {
      const index = sheet.kinds.indexOf(kind);
      if (!kind || !tally.prices.has(index)) continue;
      const cell = values[kind.fields.findIndex(field => 'ct'.includes(field.type))];
      if (tally.cells && !tally.cells.has(cell)) continue;
      const numbers = values.filter((_, at) => '#o'.includes(kind.fields[at].type)).map(x => Number(x) || 0), price = tally.prices.get(index);
      const worth = tally.what === '#' ? 1 : tally.what === '+' ? price ?? numbers.reduce((sum, x) => sum + x, 0)
        : Number(numbers.includes(Number(tally.what.slice(1))));
      const key = tally.each ? blockOf(cell) : 0;
      sums.set(key, (sums.get(key) || 0) + worth);
    }
    const all = [...sums.values()], missing = all.filter(sum => sum < tally.low).length;
    return { ...tally, now: all[0] || 0, missing, over: all.some(sum => sum > tally.high) };
  });
}
/* The weight that a line's square still lacks: pieces stay there without a line that leaves, and lines put some there. */
function lacking(sheet, lines, { kind, values }) {
  const cell = kind && kind.place >= 0 && values[kind.place], need = kind && kind.needs.find(([cells]) => cells.has(cell));
  if (!need) return 0;
  const stays = piece => piece.at === cell && !lines.some(line => line.kind && line.kind.leaves && line.values.includes(piece));
  const put = lines.filter(({ kind: by, values: of }) => by && by.puts && of[by.puts[1]] === cell).map(line => Number(line.values[line.kind.puts[0]]));
  const have = sheet.pieces.filter(stays).map(piece => piece.weight).concat(put).reduce((sum, x) => sum + x, 0);
  return Math.max(0, need[1] - have);
}

/* ---- The page ---- */

function startPage(sheet) {
  const { grid } = sheet, { width, height, block, size } = grid, UNIT = 40;
  const $ = id => document.getElementById(id), name = cell => squareName(grid, cell);
  const put = (id, words) => { if ($(id).textContent !== words) $(id).textContent = words; };
  let lines = sheet.lines.map(line => readLine(sheet, line)), kind, values, at, written = null, asked = texts().join('\n');
  const cells = [], aim = svg('g', {}), over = svg('g', {});

  function element(tag, props, ...kids) {
    const made = Object.assign(document.createElement(tag), props);
    made.append(...kids);
    return made;
  }
  function named(made, label) {
    made.setAttribute('aria-label', label);
    return made;
  }
  function svg(tag, attributes, words) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (words != null) made.textContent = words;
    return made;
  }
  function place(cell) { return [cell % width * UNIT, Math.floor(cell / width) * UNIT]; }
  function glyph(into, look, words, [x, y]) {
    const path = document.getElementById('shape-' + look[0]), [, tx, ty, font, more] = path.dataset.shape.split('|');
    const box = svg('g', { transform: `translate(${x} ${y})` }), colours = `${look[1]} ${more}`;
    box.append(svg('use', { href: '#shape-' + look[0], class: 'g ' + colours }));
    if (Number(font)) box.append(svg('text', { class: 't ' + colours, x: tx, y: ty, 'font-size': words.length > 4 ? font * .78 : font }, words));
    into.append(box);
  }
  function spoken(look, words) {
    const shape = document.getElementById('shape-' + look[0]).dataset.shape.split('|')[0];
    return `${sheet.names.get(look) || shape} ${words}`.trim();
  }
  /* The four squares whose south-west corner is this one. */
  function area(cell) {
    const [x, y] = place(cell - width);
    return svg('rect', { class: 'area', x, y, width: 2 * UNIT, height: 2 * UNIT });
  }
  function arrow(from, to) {
    const [x, y] = place(from).map(n => n + UNIT / 2), [p, q] = place(to).map(n => n + UNIT / 2), n = 10 / (Math.hypot(p - x, q - y) || 1);
    return svg('path', { class: 'arrow', 'marker-end': 'url(#tip)', d: `M${x + (p - x) * n} ${y + (q - y) * n}L${p - (p - x) * n} ${q - (q - y) * n}` });
  }

  function build() {
    const pad = block ? 2 : 18, wide = width * UNIT + pad + 2, high = height * UNIT + pad + 2, font = Math.max(11, width);
    const picture = svg('svg', { viewBox: `${-pad} -2 ${wide} ${high}`, 'aria-hidden': 'true' }), ground = svg('g', {});
    const label = (x, y, words, more) => ground.append(svg('text', { class: 'lab ' + more, x, y, 'font-size': more ? 13 : font }, words));
    sheet.zones.forEach((zone, cell) => {
      const [x, y] = place(cell);
      ground.append(svg('rect', { class: 'z ' + zone, x, y, width: UNIT, height: UNIT }));
    });
    for (let cell = 0; cell < size; cell++) {
      const [x, y] = place(cell), row = Math.floor(cell / width);
      if (block && cell % width % block === 0 && row % block === 0) {
        ground.append(svg('rect', { class: 'blk', x, y, width: block * UNIT, height: block * UNIT }));
        label(x + 4, y + 14, name(cell)[0], 'b');
      }
      if (!block && row === height - 1) label(x + 20, y + UNIT + 14, name(cell)[0], '');
      if (!block && cell % width === 0) label(-9, y + 25, height - row, '');
    }
    picture.append(ground, over, aim);
    // The buttons lie over the squares of the picture.
    const board = named(element('div', { className: 'cells' }), 'Board');
    board.setAttribute('role', 'grid');
    Object.assign(board.style, { left: `${pad / wide * 100}%`, top: `${200 / high}%`, width: `${width * UNIT / wide * 100}%`, height: `${height * UNIT / high * 100}%` });
    board.style.setProperty('--w', width);
    for (let row = 0; row < height; row++) {
      const of = element('div');
      of.setAttribute('role', 'row');
      for (let x = 0; x < width; x++) {
        const cell = element('button', { type: 'button', tabIndex: -1 });
        cell.dataset.cell = cells.length;
        cell.setAttribute('role', 'gridcell');
        cells.push(cell);
        of.append(cell);
      }
      board.append(of);
    }
    board.onclick = event => tap(nearest(event));
    board.onkeydown = step;
    board.onpointerover = event => light(event.target.closest('[data-cell]'));
    board.addEventListener('focusin', event => light(event.target));
    board.onpointerleave = () => aim.replaceChildren();
    $('board').append(picture, board);
  }
  function isOff(cell) { return sheet.zones[cell] === 'x'; }
  /* Shows the area whose corner is under the pointer, or has the focus. */
  function light(button) {
    const field = button && kind.fields[open()];
    aim.replaceChildren();
    if (field && field.area && choices().has(Number(button.dataset.cell))) aim.append(area(Number(button.dataset.cell)));
  }
  function step(event) {
    const { key } = event, row = at - at % width;
    if (key === 'Escape') return begin(kind);
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width, Home: 1, End: -1 }[key];
    if (!by) return;
    event.preventDefault();
    let to = key === 'Home' ? row : key === 'End' ? row + width - 1 : at + by;
    const inside = cell => cell >= 0 && cell < size && (Math.abs(by) > 1 && width > 1 || Math.floor(cell / width) === row / width);
    while (inside(to) && isOff(to)) to += by;
    if (inside(to)) { focusOn(to); cells[to].focus(); }
  }
  function focusOn(cell) {
    cells[at].tabIndex = -1;
    at = cell;
    cells[at].tabIndex = 0;
  }
  /* A finger is wider than a square of a big board: a tap counts for the nearest square that means something. */
  function nearest(event) {
    const own = event.target.closest('[data-cell]'), cell = own && Number(own.dataset.cell);
    if (own && (!event.detail || means(cell))) return cell;
    let best = cell, least = 24;
    cells.forEach((button, i) => {
      if (!means(i)) return;
      const box = button.getBoundingClientRect();
      const far = Math.hypot(Math.max(box.left - event.clientX, 0, event.clientX - box.right), Math.max(box.top - event.clientY, 0, event.clientY - box.bottom));
      if (far < least) { least = far; best = i; }
    });
    return best;
  }

  /* The first field that a square still has to fill, or -1. */
  function open() { return kind.fields.findIndex((field, i) => isSquare(field) && values[i] == null); }
  function choices() { return open() < 0 ? new Set() : offered(sheet, kind, open(), values); }
  /* Whether a line of this kind can begin with a tap on this square. */
  function canBegin(of, cell) { return of.place >= 0 && offered(sheet, of, of.place, []).has(cell); }
  function means(cell) { return choices().has(cell) || sheet.kinds.some(of => of.place >= 0 && of.fields[of.place].type === 'p' && canBegin(of, cell)); }
  function fresh(field) { return field.type === '#' ? field.first : field.type === 'o' ? field.texts[0] : field.type === 's' ? [] : null; }
  function begin(of, kept = []) {
    kind = of;
    values = kind.fields.map((field, i) => kept[i] == null ? fresh(field) : kept[i]);
    show();
  }
  function tap(cell) {
    if (cell == null || isOff(cell)) return;
    focusOn(cell);
    if (!choices().has(cell)) {
      // Not a square of this field: it may begin another line.
      const other = [kind, ...sheet.kinds].find(of => canBegin(of, cell));
      if (!other) return begin(kind);
      if (other !== kind) begin(other);
      else values = values.map((value, i) => isSquare(kind.fields[i]) ? null : value);
    }
    const i = open(), field = kind.fields[i];
    if (field.type === 'p') {
      // Of several pieces on one square, the first one without a line.
      const here = sheet.pieces.filter(piece => piece.at === cell && canBe(field, piece));
      values[i] = here.find(piece => !lines.some(line => line.values.includes(piece))) || here[0];
    } else values[i] = cell;
    if (open() < 0 && !kind.fields.some(of => of.type === 's')) add();
    else show();
  }
  function add() {
    const line = { kind, values: values.slice(), number: 1 }, numbers = values.filter((_, i) => kind.fields[i].type === '#');
    const keysOf = of => of.kind ? of.kind.keys.map(key => filled(sheet, of, key)) : [];
    if (kind.fields.some((field, i) => field.type === 's' && !values[i].length)) return tell('Choose at least one.');
    if (numbers.length && !numbers.some(n => n > 0)) return tell('One of the numbers must be above 0.');
    while (lines.some(of => of.kind === kind && of.number === line.number)) line.number++;
    line.text = filled(sheet, line, kind.form);
    const keys = keysOf(line), stay = kind.alone ? [] : lines.filter(of => !(of.kind && of.kind.alone) && !keysOf(of).some(key => keys.includes(key)));
    const above = tallied(sheet, [...stay, line]).find(tally => tally.over);
    if (above) return tell(`${above.label}: at most ${above.high}.`);
    lines = [...stay, line];
    const rank = of => of.kind ? of.kind.rank ?? sheet.kinds.indexOf(of.kind) / 100 : 50;
    lines = lines.map((of, i) => [rank(of), i, of]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(ranked => ranked[2]);
    begin(kind, values.map((value, i) => '#o'.includes(kind.fields[i].type) ? value : null));
    put('say', `${line.text} is in your letter. ${$('say').textContent}`);
  }
  function tell(words) {
    begin(kind, values.map((value, i) => isSquare(kind.fields[i]) ? null : value));
    put('say', words);
  }

  /* ---- What is shown ---- */

  function show() {
    const i = open(), field = kind.fields[i], may = choices(), here = new Map(), lit = cell => here.get(cell) || [];
    const stands = (cell, words) => here.set(cell, [...lit(cell), words]);
    const draw = (look, words, cell, aloud) => { glyph(over, look, words, place(cell)); stands(cell, aloud); };
    over.replaceChildren();
    sheet.marks.forEach(mark => mark.cells.forEach(cell => draw(mark.look, mark.text, cell, spoken(mark.look, mark.text))));
    const placed = lines.filter(line => line.kind && line.kind.mark);
    placed.forEach(line => {
      const first = line.values[line.kind.place], mark = line.kind.mark;
      draw(mark.look, filled(sheet, line, mark.text), first.sets ? first.at : first, line.text);
    });
    const standing = new Map();
    sheet.pieces.forEach(piece => standing.set(piece.at, [...standing.get(piece.at) || [], piece]));
    standing.forEach((of, cell) => {
      glyph(over, of[0].look, of.length > 1 ? '×' + of.length : of[0].text, place(cell));
      of.forEach(piece => stands(cell, spoken(piece.look, piece.id === piece.text ? piece.id : `${piece.id} ${piece.text}`.trim())));
    });
    // A line from a square to a square is an arrow.
    lines.forEach(line => line.kind && line.kind.fields.forEach((of, n) => {
      const from = line.values[n - 1], to = line.values[n];
      if (of.type === 't') over.append(arrow(from.at, to));
      if (of.area) over.append(area(to));
    }));
    const chosen = values.filter((value, n) => value != null && isSquare(kind.fields[n])).map(value => value.sets ? value.at : value);
    cells.forEach((button, cell) => {
      const can = may.has(cell), begins = field && field.type === 'p';
      button.className = [isOff(cell) && 'off', can && (begins ? 'may' : 'to'), can && !begins && here.has(cell) && 'full', chosen.includes(cell) && 'sel'].filter(Boolean).join(' ');
      named(button, [name(cell), ...lit(cell), can && (field.area ? `can be chosen as the south-west corner of an area of four squares` : 'can be chosen')].filter(Boolean).join(', '));
      button.setAttribute('aria-selected', chosen.includes(cell));
    });
    $('board').lastElementChild.classList.toggle('many', may.size > size * .4);
    aim.replaceChildren();
    document.querySelectorAll('#kinds input').forEach((radio, n) => { radio.checked = sheet.kinds[n] === kind; });
    showFields(i);
    showLines();
    put('say', prompt(field, may));
  }
  function prompt(field, may) {
    if (!field) return '';
    if (!may.size) return 'No square is open to this order now.';
    const piece = values.slice(0, kind.fields.indexOf(field)).reverse().find(value => value && value.sets);
    const what = field.area ? 'the south-west corner of an area of four squares' : 'a square';
    if (field.type === 'p') return field.group ? 'Choose a piece of your opponent.' : 'Choose a piece.';
    if (field.type === 't') return `${piece.id ? `${piece.id} at ` : ''}${name(piece.at)}: choose ${what}.`;
    return `Choose ${what}${field.area || field.label === 'at' ? '' : `: ${field.label}`}.`;
  }
  function showFields(missing) {
    const form = $('fields'), focused = form.contains(document.activeElement) && document.activeElement.dataset.field;
    form.replaceChildren();
    kind.fields.forEach((field, i) => {
      const label = `${field.label || 'Which'}${field.area ? ', south-west corner' : ''}`;
      if (field.type === 's') {
        const chips = field.texts.filter(x => !values[i].includes(x)).map(x => element('button', { type: 'button', className: 'chip', textContent: x, onclick: () => {
          values[i].push(x);
          show();
          ($('fields').querySelector('.chip') || $('fields').lastElementChild).focus();
        } }));
        form.append(element('div', { className: 'whole' }, element('span', { textContent: `${label}: ${values[i].join(' ') || '…'}` }), element('span', { className: 'seq' }, ...chips)));
        return;
      }
      const select = element('select');
      const options = optionsOf(sheet, kind, i, values);
      if (isSquare(field) && field.type !== 'p') options.sort((a, b) => name(a).localeCompare(name(b), 'en', { numeric: true }));
      const described = piece => [...new Set([piece.id, piece.text, name(piece.at)])].filter(Boolean).join(' · ');
      if (isSquare(field)) select.append(element('option', { value: '', textContent: '–' }));
      options.forEach((option, n) => select.append(element('option', { value: n, textContent: option.sets ? described(option) : isSquare(field) ? name(option) : option })));
      select.dataset.field = i;
      select.value = values[i] == null ? '' : options.indexOf(values[i]);
      select.onchange = () => {
        values[i] = select.value === '' ? null : options[select.value];
        // What came after a piece or a square depended on it.
        for (let n = i + 1; n < kind.fields.length && 'tk'.includes(kind.fields[n].type); n++) values[n] = null;
        show();
      };
      form.append(element('label', {}, element('span', { textContent: label }), select));
    });
    form.append(element('button', { textContent: 'Add', disabled: missing >= 0 }));
    if (focused) form.querySelector(`[data-field="${focused}"]`)?.focus();
  }
  function remark(line) {
    const missing = lacking(sheet, lines, line);
    if (missing) return `${missing} more must stay there`;
    return [written && !written.includes(line.text) && 'not yet written', !line.kind && 'yours'].filter(Boolean).join(', ');
  }
  function showLines() {
    $('lines').replaceChildren(...lines.map((line, n) => {
      const box = named(element('input', { value: line.text, spellcheck: false, size: 1 }), `Order ${n + 1}`);
      const remove = () => {
        lines = lines.filter(of => of !== line);
        show();
        ($('lines').children[Math.min(n, lines.length - 1)]?.querySelector('button') || $('orders')).focus();
      };
      box.onchange = () => {
        const changed = tidied(box.value).trim();
        if (!changed) return remove();
        box.value = changed;
        Object.assign(line, readLine(sheet, changed));
        showLetter();
      };
      const off = named(element('button', { type: 'button', className: 'quiet', textContent: '×', onclick: remove }), `Remove ${line.text || 'this line'}`);
      return element('li', {}, box, element('small'), off);
    }));
    showLetter();
  }
  function texts() { return lines.map(line => line.text).filter(Boolean); }
  /* The footer with the token stands last, so that a letter that was cut short is refused whole. */
  function body(orders) { return [...orders, ...sheet.token ? ['', '-- ', `Reply token: ${sheet.token}`] : [], ''].join('\r\n'); }
  function showLetter() {
    const own = texts(), orders = own.length ? own : [sheet.empty].filter(Boolean), alone = lines.some(line => line.kind && line.kind.alone);
    const tallies = alone ? [] : tallied(sheet, lines), letter = body([...sheet.first, ...orders]), href = mailto(sheet, letter), long = href.length > MAX_LETTER;
    const range = ({ low, high }) => low === high ? high : low ? `${low} to ${high}` : `at most ${high}`;
    [...$('lines').children].forEach((item, n) => { item.querySelector('small').textContent = remark(lines[n]); });
    put('hint', lines.length ? '' : `${sheet.hint}${sheet.empty ? ` Without any, the letter says ${sheet.empty}.` : ''}`);
    $('tally').replaceChildren(...tallies.map(tally => element('li', {
      className: tally.over ? 'over' : tally.missing ? '' : 'ok',
      textContent: tally.each ? `${tally.label}: ${range(tally)}${tally.missing ? `, ${tally.missing} to go` : ''}` : `${tally.label}: ${tally.now} of ${range(tally)}`,
    })));
    const isReady = orders.length && !lines.some(line => lacking(sheet, lines, line)) && (!tallies.some(tally => tally.missing) || lines.some(line => !line.kind));
    $('mail').classList.toggle('wait', !isReady);
    $('mail').href = long ? mailto(sheet, body(['(paste the letter here)'])) : href;
    put('mail', long ? 'Copy, and open a letter' : 'Write the letter');
    put('text', letter.replace(/\r/g, ''));
    put('note', !written ? 'Opens your mail program with the letter. The referee’s receipt says what counts.'
      : written.join('\n') === own.join('\n') ? 'Now send it in your mail program; the referee’s receipt is the proof.'
        : 'Your lines have changed since: write the letter again.');
    put('due', sheet.due + (Date.now() > sheet.deadline * 1000 ? ' — past. A newer letter may be in your mailbox.' : ''));
    $('mail').onclick = () => { if (long) copy(); else noteWritten(); };
  }
  function noteWritten() {
    written = texts();
    asked = written.join('\n');
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

  document.title = `${sheet.match}: ${sheet.turn}`;
  Object.entries({ club: sheet.club, match: sheet.match, title: sheet.players, sub: sheet.turn }).forEach(([id, words]) => put(id, words));
  build();
  at = sheet.zones.findIndex(zone => zone !== 'x');
  focusOn(at);
  sheet.kinds.forEach((of, n) => {
    const radio = element('input', { type: 'radio', name: 'kind', id: `kind-${n}`, className: 'hide' });
    // A piece that is chosen stays so, if it can do this, too.
    radio.onchange = () => begin(of, values[0] && values[0].sets && of.fields[0] && of.fields[0].type === 'p' && canBe(of.fields[0], values[0]) ? [values[0]] : []);
    $('kinds').append(radio, element('label', { htmlFor: radio.id, textContent: of.label }));
  });
  $('kinds').hidden = sheet.kinds.length < 2;
  const looks = new Map(sheet.marks.filter(mark => sheet.names.has(mark.look)).map(mark => [mark.look, mark]));
  looks.forEach((mark, look) => {
    const icon = svg('svg', { viewBox: '0 0 40 40', 'aria-hidden': 'true' });
    glyph(icon, look, mark.text, [0, 0]);
    $('key').append(element('li', {}, icon, sheet.names.get(look)));
  });
  $('fields').onsubmit = event => { event.preventDefault(); if (open() < 0) add(); };
  $('copy').onclick = copy;
  $('clear').onclick = () => { lines = []; begin(kind); };
  $('own').onclick = () => {
    lines.push({ kind: null, values: [], number: 0, text: '' });
    show();
    $('lines').lastElementChild.querySelector('input').focus();
  };
  $('skip').onclick = event => { event.preventDefault(); $('orders').focus(); };
  addEventListener('beforeunload', event => { if (texts().length && texts().join('\n') !== asked) event.preventDefault(); });
  addEventListener('beforeprint', () => { $('whole').open = true; });
  $('desk').hidden = false;
  begin(sheet.kinds.find(of => of.fields.some(field => field.type === 'p')) || sheet.kinds[0]);
}

async function loadPage() {
  const say = words => { document.getElementById('sub').textContent = words; }, payload = location.hash.slice(1);
  addEventListener('hashchange', () => location.reload());
  if (!payload) return say('Open this page by the link in one of your letters.');
  let sheet = null;
  try {
    sheet = await readSheet(payload);
  } catch {
    return say('The link is cut short or damaged, or this browser is too old. Answer the letter itself: it shows how orders are written.');
  }
  const club = document.querySelector('meta[name=club-address]').content;
  if (!isOfClub(sheet.address, club)) return say('This link would write to somebody else than this club. Answer the referee’s letter itself.');
  startPage(sheet);
}

if (typeof document !== 'undefined') loadPage();
