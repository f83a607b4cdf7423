import { expect, vi } from 'vitest';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import type { QuotaUse } from '../../mail/store/account/quota.ts';
import { imapWorld, PASSWORD, USER } from './imap-world.ts';
import type { ImapClient, ImapWorld, WorldOptions } from './imap-world.ts';
import { sharingWorld, type SharingWorld } from './sharing-world.ts';

/**
 * Runs a script of what clients say and what the server must answer, line for line and nothing else:
 *
 * ```
 * # comment
 * C: a SELECT INBOX            the client says a line; several clients are A C:, B C:
 * R: hello\r\nworld            the same as it stands, with \r \n \0 and \xNN escapes
 * S: * OK *                    the server says a line; a trailing `*` stands for anything; UTF-8 if it is not ASCII
 * S!                           the server closes the connection
 * + deliver INBOX \Seen        a message arrives; `Subject: message N`, N counting from 1
 * + login                      logs in, answers not shown; + select INBOX
 * + tls                        the client begins TLS
 * + revoke                     the password was changed
 * + quota 1025 2048 3 10       octets used and allowed, messages used and allowed; - for no limit
 * + room 0                     octets that still fit into the account
 * + fail write                 the store cannot write; + fail read: nor list its mailboxes; + fail nothing: it can again
 * + damage INBOX 1 20          20 octets are left of the message with the UID 1
 * + hold search                searches take until + end search; + pass 10 lets 10 s of a search pass
 * + compress                   the client compresses from now on
 * + full ann                   the quota of Ann is used up, with `! sharing=true`
 * ```
 *
 * `! option=value` in the first lines sets options: `! local=false`, `! badCommands=3`, `! recent=true`: new messages are
 * \Recent; `! sharing=true`: ann, bob and cyd of box.test and eve of other.test have mailboxes in a real store, and any
 * password; `! faults=1`: so many faults are logged.
 */
export async function runDialog(script: string): Promise<void> {
  const lines = script.split('\n');
  await using world = lines.includes('! sharing=true') ? await sharingWorld() : await imapWorld(optionsOf(lines));
  if ('store' in world) world.store.tracksRecent = lines.includes('! recent=true');
  const clients = new Map<string, ImapClient>();
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#') || line.startsWith('!')) continue;
    await step(world, clients, line, `line ${at + 1}: ${line}`);
  }
  for (const client of clients.values()) await nothingLeft(client);
  const faults = lines.find((line) => line.startsWith('! faults='))?.slice('! faults='.length);
  if (faults === undefined) expect(world.faults, 'faults were logged').toEqual([]);
  else expect(world.faults, 'faults that were logged').toHaveLength(Number(faults));
}

type DialogWorld = ImapWorld | SharingWorld;

async function step(world: DialogWorld, clients: Map<string, ImapClient>, line: string, where: string): Promise<void> {
  const [, who = '', verb = '', rest = ''] = /^(?:([A-Z]) )?(C:|R:|S:|S!|\+) ?(.*)$/.exec(line) ?? [];
  if (verb === '') throw new Error(`not understood: ${where}`);
  if (verb === '+' && EVENTS.test(rest)) return happen(world, rest);
  let client = clients.get(who);
  if (client === undefined) clients.set(who, (client = await world.connect()));
  if (verb === 'C:') client.send(`${rest}\r\n`);
  else if (verb === 'R:') client.send(unescape(rest));
  else if (verb === '+') await prepare(client, rest, where);
  else if (verb === 'S!') expect(await client.line(), where).toBeUndefined();
  else expectLine(await client.line(), rest, where);
}

const EVENTS = /^(?:deliver|revoke|quota|room|fail|damage|hold|pass|end|full)\b/;

async function happen(world: DialogWorld, what: string): Promise<void> {
  const [verb, ...words] = what.split(' ');
  const [mailbox = 'INBOX', ...flags] = words;
  if ('people' in world) {
    if (verb !== 'full' || !(mailbox in world.people)) throw new Error(`not possible with sharing=true: ${what}`);
    const { account } = world.people[mailbox as keyof typeof world.people];
    world.sql('UPDATE account SET quota_bytes = used_bytes WHERE id = ?', account);
    return;
  }
  const { store } = world;
  switch (verb) {
    case 'revoke':
      return world.logins.revoke();
    case 'quota':
      store.use = quotaOf(words);
      return;
    case 'room':
      store.room = Number(words[0]);
      return;
    case 'fail':
      return failStore(world, words[0]);
    case 'damage':
      return store.damage(mailbox, Number(words[1]), Number(words[2]));
    case 'hold':
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
      store.heldSearch = { begun: Promise.withResolvers(), end: Promise.withResolvers() };
      return;
    case 'pass':
      await store.heldSearch?.begun.promise;
      await vi.advanceTimersByTimeAsync(Number(words[0]) * 1000);
      return;
    case 'end':
      store.heldSearch?.end.resolve();
      store.heldSearch = undefined;
      vi.useRealTimers();
      return;
    case undefined:
    default:
      deliverNext(world, mailbox, flags);
  }
}

function failStore({ store }: ImapWorld, what: string | undefined): void {
  const busy = new StoreBusy('disk-full', 'no space left');
  store.fail = what === 'nothing' ? undefined : busy;
  if (what === 'read') vi.spyOn(store, 'mailboxes').mockRejectedValue(busy);
  else vi.restoreAllMocks();
}

function quotaOf([usedBytes = '0', bytes = '-', usedCount = '0', count = '-']: readonly string[]): QuotaUse {
  const limit = (text: string): number | null => (text === '-' ? null : Number(text));
  return {
    usedBytes: Number(usedBytes),
    quotaBytes: limit(bytes),
    usedCount: Number(usedCount),
    quotaCount: limit(count),
  };
}

function deliverNext(world: ImapWorld, mailbox: string, flags: readonly string[]): void {
  const number = world.store.find(mailbox)?.uidNext ?? 0;
  world.store.deliver(mailbox, `From: a@remote.example\nSubject: message ${number}\n\nHello ${number}\n`, flags);
}

async function prepare(client: ImapClient, what: string, where: string): Promise<void> {
  if (what === 'tls') return client.secure();
  if (what === 'compress') return client.compress();
  const lines = await client.command(what === 'login' ? `LOGIN ${USER} ${PASSWORD}` : what, 'prepare');
  expect(lines.at(-1), where).toMatch(/^prepare OK /);
}

function expectLine(received: string | undefined, pattern: string, where: string): void {
  // A pattern in UTF-8 is compared with octets in UTF-8.
  const isUtf8 = /[^\x00-\x7f]/.test(pattern);
  const line = isUtf8 && received !== undefined ? Buffer.from(received, 'latin1').toString('utf8') : received;
  if (!pattern.endsWith('*')) return expect(line, where).toBe(pattern);
  const start = pattern.slice(0, -1);
  expect(line?.slice(0, start.length) ?? '(closed)', `${where}\ngot: ${line}`).toBe(start);
}

async function nothingLeft(client: ImapClient): Promise<void> {
  if (client.closed) return;
  client.send('end LOGOUT\r\n');
  const [first] = await client.until((line) => /^(?:\* BYE|end )/.test(line));
  expect(first, 'the server said more than the script has').toMatch(/^\* BYE|\(closed\)/);
}

function unescape(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, letter: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return { r: '\r', n: '\n', '0': '\0' }[letter] ?? letter;
  });
}

function optionsOf(lines: readonly string[]): WorldOptions {
  const options: WorldOptions = {};
  const limits: Record<string, number> = {};
  for (const line of lines.filter((each) => each.startsWith('! '))) {
    const [name = '', value = ''] = line.slice(2).trim().split('=');
    if (name === 'recent' || name === 'faults') continue;
    if (name === 'local' || name === 'exempt' || name === 'uidOnly') options[name] = value === 'true';
    else limits[name] = Number(value);
  }
  return { ...options, limits };
}
