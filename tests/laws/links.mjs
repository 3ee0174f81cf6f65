// Reads links, one a line, as the page that composes letters does: node links.mjs PLAY.JS < LINKS
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import vm from 'node:vm';
import zlib from 'node:zlib';

// Older versions of Node have no deflate-raw.
function DecompressionStream() {
  return Duplex.toWeb(zlib.createInflateRaw());
}
const page = vm.createContext({ atob, Blob, DecompressionStream, Uint8Array });
vm.runInContext(readFileSync(process.argv[2], 'utf8'), page);
const set = vm.runInContext('of => { sheet = of; }', page);
for (const link of readFileSync(0, 'utf8').split('\n')) {
  const sheet = await page.readSheet(link.split('#')[1]).catch(error => assert.fail(`${error.message}: ${link}`));
  // What is filed is read back as lines of the board.
  set(sheet);
  for (const line of sheet.lines) assert(page.readLine(line).kind.label, line);
}
