// The laws of the page that composes letters, without a browser: node sheets.mjs PLAY.JS SHEET.JSON...
// It runs the same file as the page, and ends with an error at the first law that does not hold.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import vm from 'node:vm';
import zlib from 'node:zlib';

const [script, ...files] = process.argv.slice(2);
// Older versions of Node have no deflate-raw.
function DecompressionStream(format) {
  assert.equal(format, 'deflate-raw');
  return Duplex.toWeb(zlib.createInflateRaw());
}
const page = vm.createContext({ atob, Blob, DecompressionStream, Uint8Array });
vm.runInContext(readFileSync(script, 'utf8'), page);
const set = vm.runInContext('of => { sheet = of; }', page);
const payload = value => zlib.deflateRawSync(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value), { level: 9 }).toString('base64url');
const sheets = files.map(file => JSON.parse(readFileSync(file, 'utf8')));
const isRefused = text => page.readSheet(text).then(() => false, () => true);

// A walk steps round the board from its start.
for (const [signs, size, from, cells] of [
  ['$$%', 121, undefined, [0, 1, 3]], ['$~A', 121, undefined, [0, 120]], ['$~@', 121, 5, [6, 4]], ['', 121, 5, []],
  ['}$', 121, undefined, [89, 90]], ['~$', 121, undefined, [90]], ['~~o', 256, undefined, [255]],
]) assert.deepEqual([...page.walk(signs, size, from)], cells, signs);
for (const signs of ['#', '~', '$ ', '$~', '$\u007f', '~~~~$', 7, null]) assert.throws(() => page.walk(signs, 121), `${signs}`);

// Squares have the names that orders use.
const ranks = { width: 16, height: 16, block: 0 }, blocks = { width: 10, height: 10, block: 2 };
assert.deepEqual([0, 15, 240, 255].map(cell => page.squareName(ranks, cell)), ['A16', 'P16', 'A1', 'P1']);
assert.deepEqual([0, 1, 10, 11, 2, 99].map(cell => page.squareName(blocks, cell)), ['A1', 'A2', 'A3', 'A4', 'B1', 'Y4']);

// A letter goes to the club and to nobody else.
for (const [address, isOurs] of [
  ['referee@club.example', true], ['referee+2zds0p9c@club.example', true], ['referee@club.example.org', false],
  ['thief@club.example', false], ['referee+a,thief@club.example', false], ['referee+@club.example', false],
  ['referee+a@other.example', false], ['referee+@club.example@club.example', false], ['@club.example', false],
]) assert.equal(page.isOfClub(address, 'referee@club.example'), isOurs, address);
assert.equal(page.isOfClub('x@y', ''), false);

let counted = 0;
for (const sheet of sheets) {
  const whole = payload(sheet);
  const read = await page.readSheet(whole);
  assert.equal(read.token, sheet.m[1]);
  set(read);

  // A link that was cut is refused at every length.
  for (let length = 0; length < whole.length; length++) assert(await isRefused(whole.slice(0, length)), `cut at ${length}`);
  // A flipped bit is refused, or leaves a Sheet that passes every check: never a hang, and never another error later.
  const bytes = Buffer.from(whole, 'base64url');
  for (let at = 0; at < bytes.length * 8; at += 3) {
    const flipped = Buffer.from(bytes);
    flipped[at >> 3] ^= 1 << (at & 7);
    await isRefused(flipped.toString('base64url'));
  }

  // Each field broken is refused. A board may have no zones, marks, pieces and tallies, and any deadline.
  const wrong = [{}, [], -1, 1.5, true, '\u0000', '<img onerror=x>'.repeat(100), [[{}]], [[null, null, null, null, null, null]]];
  for (const key of Object.keys(sheet)) {
    for (const value of wrong) {
      const isNone = 'zkpr'.includes(key) && Array.isArray(value) && !value.length || key === 'n' && typeof value === 'object' && !Object.keys(value).length;
      assert.equal(await isRefused(payload({ ...sheet, [key]: value })), !isNone, `${key}: ${JSON.stringify(value).slice(0, 40)}`);
    }
  }
  for (const key of ['v', 'g', 'z', 't', 'm', 'o', 'p', 'r', 'h']) {
    const { [key]: _, ...rest } = sheet;
    assert(await isRefused(payload(rest)), `without ${key}`);
  }

  // Lines that can be composed are read back as themselves, and a text of one's own stays one.
  for (const kind of read.kinds) {
    const some = of => [...new Set([of[0], of[of.length >> 1], of.at(-1)])];
    const linesFrom = values => {
      const field = kind.fields[values.length];
      if (!field) return [values];
      const options = some(page.optionsOf(kind, values.length, values)).filter(option => option !== undefined);
      return (field.type === 's' ? [options] : options).flatMap(option => linesFrom([...values, option]));
    };
    for (const values of linesFrom([])) {
      const text = page.filled({ kind, values, number: 1 }, kind.form), line = page.readLine(text);
      assert.equal(line.kind, kind, text);
      assert.equal(JSON.stringify(line.values), JSON.stringify(values), text);
      counted++;
    }
  }
  assert.equal(page.readLine('TELL hello').kind.label, undefined);
  assert.equal(page.readLine('(.+)+$').kind.label, undefined);
}

// A line with a number in each of many fields is not sought among all their combinations.
const numbers = Array.from({ length: 8 }, (_, n) => ['#', `${n}`, 0, 99]);
const manyNumbers = { n: 'Numbers', l: '{1} {2} {3} {4} {5} {6} {7} {8}', q: numbers };
const digits = Array.from({ length: 100 }, (_, n) => n).join(' ');
set(await page.readSheet(payload({ ...sheets[0], o: [manyNumbers], r: [], f: [digits] })));
assert.equal(page.readLine(digits).kind.label, undefined);
assert.equal(page.readLine('0 1 2 3 4 5 6 7').kind.label, 'Numbers');
for (let n = 0; n < 400; n++) assert.equal(page.readLine('1 1 1 1 1 1 1 1x').kind.label, undefined);
assert(await isRefused(payload({ ...sheets[0], e: '\ud800' })), 'half a character cannot be written in a letter');

// What a link inflates to is bounded.
assert(await isRefused(payload(Buffer.alloc(4_000_000, 32))));
assert(await isRefused(payload(JSON.stringify(sheets[0]) + ' '.repeat(65536))));

// Names may hold anything: they lose marks that turn the direction of writing, and nothing else.
const hostile = `<img src=x onerror=x>"'&\u202e${'x'.repeat(200)}`;
const named = await page.readSheet(payload({ ...sheets[0], t: sheets[0].t.map(() => hostile) }));
assert.equal(named.titles[1], hostile.replace('\u202e', ' '));
assert(counted > 30, `${counted} lines`);
