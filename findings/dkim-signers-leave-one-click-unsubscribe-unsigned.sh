#!/bin/sh
# 2026-11-28. Three signers and one judge: nodemailer 10.6.1 and mailauth 4.13.3 (npm), dkimpy 1.1.8 (PyPI), each with
# its own list of fields to sign, on the same letter with both fields of one-click unsubscribing; listunsub 0.2.0 (PyPI)
# says which signature serves.
# Guess:  whoever signs List-Unsubscribe by default also signs List-Unsubscribe-Post.
# Truth:  nodemailer signs both. mailauth and dkimpy sign List-Unsubscribe alone: the signature verifies, and the
#         one-click link does not count. The headerList that mailauth's README documents, an array, changes nothing; the
#         same names in one string with colons work. Mail::DKIM 1.20230212 (Debian) leaves the field out too (seen by
#         hand, not checked here).
# Source: RFC 8058 section 4: a valid DKIM signature must cover at least List-Unsubscribe and List-Unsubscribe-Post.
#         RFC 6376 section 5.4.1, five years older, names List-Unsubscribe only.
# Needs:  python3 with pip, npm. node 20 comes from npm (mailauth asks for it). No fogpost, no root. About 20 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t" PYTHONPATH="$t/py"
python3 -m pip install -q --target "$t/py" --no-deps dkimpy==1.1.8 dnspython==2.9.2 listunsub==0.2.0
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" nodemailer@10.6.1 mailauth@4.13.3 node@20.19.5 >/dev/null

cat >sign.js <<'E'
const fs = require('fs'), nodemailer = require('nodemailer'), { dkimSign } = require('mailauth/lib/dkim/sign');
const { privateKey, publicKey } = require('crypto').generateKeyPairSync('rsa', { modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' }, publicKeyEncoding: { type: 'spki', format: 'der' } });
const letter = { from: 'gm@example.org', to: 'ann@example.org', subject: 'Turn 3', text: 'The fleets are out.\n',
  headers: { 'List-Unsubscribe': '<https://example.org/out/7>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } };
const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
const make = async more => (await transport.sendMail({ ...letter, ...more })).message;
(async () => {
  fs.writeFileSync('nodemailer.eml', await make({ dkim: { domainName: 'example.org', keySelector: 's', privateKey } }));
  const plain = await make({});
  const signing = { signatureData: [{ signingDomain: 'example.org', selector: 's', privateKey }] };
  fs.writeFileSync('plain.eml', plain);
  fs.writeFileSync('key.pem', privateKey);
  fs.writeFileSync('dns.txt', 'v=DKIM1; k=rsa; p=' + publicKey.toString('base64'));
  const names = ['From', 'List-Unsubscribe', 'List-Unsubscribe-Post'];
  for (const [name, headerList] of [['default'], ['array', names], ['string', names.join(':')]]) {
    const { signatures, errors } = await dkimSign(plain, { ...signing, headerList });
    if (errors.length) throw errors[0];
    fs.writeFileSync('mailauth-' + name + '.eml', signatures + plain);
  }
})();
E
cat >judge.py <<'E'
import dkim, email, listunsub
plain, key = open("plain.eml", "rb").read(), open("key.pem", "rb").read()
open("dkimpy.eml", "wb").write(dkim.sign(plain, b"s", b"example.org", key) + plain)
for signer in "nodemailer", "dkimpy", "mailauth-default", "mailauth-array", "mailauth-string":
    raw = open(signer + ".eml", "rb").read()
    valid = dkim.verify(raw, dnsfunc=lambda name, timeout=5: open("dns.txt", "rb").read())
    letter = email.message_from_bytes(raw)
    signature = letter["DKIM-Signature"]
    fields = sorted(f for f in listunsub.signed_headers(signature) if f.startswith("list-"))
    problems = listunsub.audit(letter["List-Unsubscribe"], letter["List-Unsubscribe-Post"], dkim_signatures=signature)
    verdict = "not one-click" if problems else "one-click"
    print(signer, "verifies" if valid else "fails", "and signs", *fields, "->", verdict)
E
cat >expected <<'E'
nodemailer verifies and signs list-unsubscribe list-unsubscribe-post -> one-click
dkimpy verifies and signs list-unsubscribe -> not one-click
mailauth-default verifies and signs list-unsubscribe -> not one-click
mailauth-array verifies and signs list-unsubscribe -> not one-click
mailauth-string verifies and signs list-unsubscribe list-unsubscribe-post -> one-click
E
node_modules/.bin/node sign.js
python3 judge.py >seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
