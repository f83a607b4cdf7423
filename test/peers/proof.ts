import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dnsServer } from '../support/dns-server.ts';
import type { ScriptedServer } from '../support/scripted-smtp.ts';
import { NAME_SERVER } from './own-resolv-conf.ts';
import { succeed } from './run.ts';

/** Verification results of other implementations. */
export interface Proof {
  /** dkimpy: for each message, the result of each signature, in their order. */
  dkimpy: boolean[][];
  /** opendkim: for each message, '' or its complaint. */
  opendkim: string[];
}

/** The TXT records of all keys that a box signs with, those of its own name too. */
export function publishedKeys(dataDir: string): Record<string, string[]> {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  const keys = db.prepare('SELECT k.selector, k.public, d.name FROM dkim_key k JOIN domain d ON d.id = k.domain_id');
  return Object.fromEntries(
    keys
      .all()
      .map((key) => [`TXT ${String(key['selector'])}._domainkey.${String(key['name'])}`, [String(key['public'])]]),
  );
}

/** A message as it was before its dots were doubled. */
export function unstuffed(raw: Buffer): Buffer {
  return Buffer.from(raw.toString('latin1').slice(0, -'.\r\n'.length).replace(/^\.\./gm, '.'), 'latin1');
}

/** Has dkimpy and opendkim verify messages with the keys of `zone`. Takes root, as Debian's CI machines give it. */
export async function prove(messages: readonly Buffer[], zone: Record<string, string[]>): Promise<Proof> {
  return { dkimpy: await byDkimpy(messages, zone), opendkim: await byOpendkim(messages, zone) };
}

async function byDkimpy(messages: readonly Buffer[], zone: Record<string, string[]>): Promise<boolean[][]> {
  const records = Object.entries(zone).flatMap(([name, [text]]) =>
    name.startsWith('TXT ') ? [[name.slice(4), text]] : [],
  );
  const input = JSON.stringify({
    records: Object.fromEntries(records) as Record<string, string>,
    messages: messages.map((message) => message.toString('base64')),
  });
  const script = join(import.meta.dirname, 'verify_dkim.py');
  const said = JSON.parse(await succeed('/usr/bin/python3', [script], { input })) as unknown[][];
  return said.map((all) => all.map((one) => one === true));
}

async function byOpendkim(messages: readonly Buffer[], zone: Record<string, string[]>): Promise<string[]> {
  await using _dns = await dnsServer(zone, { host: NAME_SERVER, port: 53 });
  await using dir = await mkdtempDisposable(join(tmpdir(), 'proof-'));
  await writeFile(join(dir.path, 'resolv.conf'), `nameserver ${NAME_SERVER}\n`);
  for (const [at, message] of messages.entries()) await writeFile(join(dir.path, `${at}.eml`), message);
  const script = `mount --bind resolv.conf /etc/resolv.conf || exit 1
    for at in $(seq 0 ${messages.length - 1}); do
      said=$(/usr/sbin/opendkim-testmsg <$at.eml 2>&1); status=$?
      [ $status = 0 ] && echo || echo "$status $said" | tr '\\n' ' ' | sed 's/$/\\n/'
    done`;
  if (messages.length === 0) return [];
  const said = await succeed('/usr/bin/unshare', ['-m', 'sh', '-c', script], { cwd: dir.path, patienceMs: 300_000 });
  return said.split('\n').slice(0, messages.length);
}

/** A report that goes back to the author of a forwarded message: strangers wrote it, so nobody here vouches for it. */
function isReturned(message: Buffer): boolean {
  return /^Received: .*\r\n(?:[ \t].*\r\n)*?[ \t]+for <SRS0=/.test(message.toString('latin1'));
}

/**
 * Everything that a sink has taken is signed, and each signature holds for both; what was returned is not signed at all.
 * Throws what is not so.
 */
export async function proveAll(sink: ScriptedServer, zone: Record<string, string[]>): Promise<string> {
  // A transaction without an accepted recipient has no message. RFC 2920 3.1.
  const all = sink.mails.filter(({ to }) => to.length > 0).map(({ raw }) => unstuffed(raw));
  const vouched = all.filter((message) => isReturned(message) && /^DKIM-Signature:/im.test(message.toString('latin1')));
  if (vouched.length > 0) throw new Error(`${vouched.length} returned messages are signed`);
  const messages = all.filter((message) => !isReturned(message));
  const { dkimpy, opendkim } = await prove(messages, zone);
  const wrong = messages.flatMap((message, at) => {
    const passes = dkimpy[at] ?? [];
    if (passes.length > 0 && passes.every(Boolean) && opendkim[at] === '') return [];
    return [
      `dkimpy ${passes.join() || 'no signature'}, opendkim ${opendkim[at]}:\n${message.toString('latin1').slice(0, 1500)}`,
    ];
  });
  if (wrong.length > 0)
    throw new Error(`${wrong.length} of ${messages.length} messages do not verify:\n${wrong.join('\n')}`);
  return `${messages.length} messages left, ${dkimpy.flat().length} signatures: all verify with dkimpy, all messages with opendkim`;
}
