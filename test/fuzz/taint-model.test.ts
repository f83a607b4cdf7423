import { expect, test } from 'vitest';
import { areWordsTainted, deriveReader, markEditedEmail, markWordsOfWriter } from '../../mail/agents/taint/content.ts';
import {
  markTainted,
  outsidersMail,
  purgeTaints,
  recordTaints,
  taintedSince,
  type TaintReader,
} from '../../mail/agents/taint/taint.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { changeEmails } from '../../mail/store/message/email-change-commands.ts';
import { copyEmail, storeEmail } from '../../mail/store/message/email-commands.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { GateWorld } from '../support/gate-world.ts';
import { Random } from '../support/random.ts';

const STEPS = Number(process.env['MODEL_STEPS'] ?? 100_000);
const SEED = Number(process.env['MODEL_SEED'] ?? 20_261_122);
/** Steps in one world: afterwards its mailbox is long. */
const ROUND = 400;
const HOUR = 3_600_000;
const WINDOW = 24 * HOUR;

/** `mbx_1`: a password of the mailbox. `tok_9` was created by `tok_1`: they are one reader. */
const AGENTS = ['tok_1', 'tok_2', 'tok_3', 'mbx_1', 'tok_9'] as const;
type Agent = (typeof AGENTS)[number];
const readerOf = (agent: Agent): string => (agent === 'tok_9' ? 'tok_1' : agent);
const byPassword = (agent: Agent): boolean => agent === 'mbx_1';
const identityOf = (agent: Agent) => ({ reader: readerOf(agent), credential: agent, byPassword: byPassword(agent) });

/** Words outside of messages; uploads are marked one by one, and stored for a day. */
const KINDS = ['folders', 'labels', 'mailboxes'] as const;

const derive = command('test-derive', (tx) => deriveReader(tx, 'tok_9', 'tok_1'));
const edited = command('test-edited', (tx, input: Parameters<typeof markEditedEmail>[1]) => markEditedEmail(tx, input));
const since = query('test-since', (rx, { agent, now }: { agent: Agent; now: number }) =>
  taintedSince(rx, { tenant: 1, ...identityOf(agent) }, now),
);
const newest = query('test-newest', async (rx, account: number): Promise<number> => {
  return (await rx.get<{ id: number }>('SELECT max(id) AS id FROM email WHERE account_id = ?', account))?.id ?? 0;
});
const folders = query('test-folders', async (rx, account: number): Promise<number[]> => {
  const rows = await rx.all<{ id: number }>('SELECT id FROM mailbox WHERE account_id = ? ORDER BY id LIMIT 2', account);
  return rows.map(({ id }) => id);
});

/**
 * The oracle: which content is tainted, and when each reader last used such content. Who has the password may have any
 * token, and the other way round.
 */
class Oracle {
  readonly emails = new Map<number, boolean>();
  readonly words = new Set<string>();
  readonly #used = new Map<string, number>();

  isExposed(agent: Agent, now: number): boolean {
    const readers = byPassword(agent) ? [...this.#used.keys()] : [readerOf(agent), 'mbx_1'];
    return readers.some((reader) => (this.#used.get(reader) ?? -Infinity) > now - WINDOW);
  }

  useWords(agent: Agent, kind: string, now: number): void {
    if (this.words.has(kind)) this.#used.set(readerOf(agent), now);
  }

  use(agent: Agent, email: number, now: number): void {
    if (this.emails.get(email) === true) this.#used.set(readerOf(agent), now);
  }
}

class Model {
  readonly oracle = new Oracle();
  readonly counts = { held: 0, free: 0, laundered: 0 };
  readonly #world: GateWorld;
  readonly #random: Random;
  readonly #folders: readonly number[];
  /** Mail of strangers: no draft. */
  readonly #foreign = new Set<number>();
  /** The newest uploads, with their times. */
  #uploads: { kind: string; at: number }[] = [];
  #n = 0;

  constructor(world: GateWorld, random: Random, known: readonly number[]) {
    this.#world = world;
    this.#random = random;
    this.#folders = known;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const agent = random.one(AGENTS);
    const known = [...this.oracle.emails.keys()];
    const email = known.length === 0 ? 0 : random.one(known);
    const pick = random.below(100);
    if (known.length === 0 || pick < 4) return this.#stranger();
    if (pick < 6) return this.#replay();
    if (pick < 24) return this.#read(agent, email);
    if (pick < 36) return this.#write(agent);
    if (pick < 44) return this.#sendInside(agent);
    if (pick < 51) return this.#copy(agent, email);
    if (pick < 58) return this.#label(agent, email);
    if (pick < 64) return this.#edit(random.chance(0.5) ? agent : null, email);
    if (pick < 67) return this.#writeWords(agent);
    if (pick < 70) return this.#readWords(agent);
    if (pick < 84) return this.#sendOutside(agent);
    this.#world.box.clock.now += random.below(20) * HOUR;
    if (random.chance(0.3)) while (await this.#world.box.store.write(purgeTaints, undefined));
  }

  async #stranger(): Promise<void> {
    const email = await this.#world.put({ from: 'eve@evil.example' });
    this.oracle.emails.set(email, true);
    this.#foreign.add(email);
  }

  /** Mail of the mailbox itself, with its DKIM signature, that an outsider sends here again. */
  async #replay(): Promise<void> {
    const email = await this.#world.receive({ from: 'me@box.test' });
    this.oracle.emails.set(email, true);
    this.#foreign.add(email);
  }

  async #writeWords(agent: Agent): Promise<void> {
    const { box, account } = this.#world;
    const isUpload = this.#random.chance(0.3);
    const kind = isUpload ? `upload-${++this.#n}` : this.#random.one(KINDS);
    if (isUpload) this.#uploads = [...this.#uploads.slice(-3), { kind, at: box.clock.now }];
    await box.store.write(markWordsOfWriter, { account, by: agent, kinds: [kind] });
    if (this.oracle.isExposed(agent, box.clock.now)) this.oracle.words.add(kind);
  }

  async #readWords(agent: Agent): Promise<void> {
    const { box, account } = this.#world;
    const uploads = this.#uploads.filter(({ at }) => at > box.clock.now - WINDOW).map((one) => one.kind);
    const kind = this.#random.one([...KINDS, ...uploads]);
    if (await box.store.read(areWordsTainted, { account, kinds: [kind] })) {
      await box.store.write(markTainted, { reader: this.#world.reader(identityOf(agent)) });
    }
    this.oracle.useWords(agent, kind, box.clock.now);
  }

  async #read(agent: Agent, email: number): Promise<void> {
    const { box, account } = this.#world;
    const reader: TaintReader = this.#world.reader(identityOf(agent));
    const outside = await box.store.read(outsidersMail, { ...reader, account, emails: [email] });
    if (outside.length > 0) await box.store.write(recordTaints, { reader, account, emails: outside });
    this.oracle.use(agent, email, box.clock.now);
  }

  /** A draft of an agent. */
  async #write(agent: Agent): Promise<void> {
    this.oracle.emails.set(await this.#store(agent), this.oracle.isExposed(agent, this.#world.box.clock.now));
  }

  async #store(by: string | null): Promise<number> {
    const { box, account } = this.#world;
    const octets = Buffer.from(
      `From: me@box.test\r\nMessage-ID: <m${++this.#n}@box.test>\r\nSubject: n${this.#n}\r\n\r\nText\r\n`,
    );
    const where = { mailboxes: [this.#folders[1] ?? 0], flags: { bits: 8, keywords: [] }, receivedAt: box.clock.now };
    const message = { data: Uint8Array.from(octets), file: null, index: indexMessage(octets) };
    const done = await box.store.write(storeEmail, { account, ifState: null, by, ...where, ...message });
    return done.kind === 'placed' ? done.email : expect.fail(done.kind);
  }

  async #sendInside(agent: Agent): Promise<void> {
    const { box, account } = this.#world;
    const here = [{ account, to: 'me@box.test', trace: 'Return-Path: <me@box.test>\r\n' }];
    const exposed = this.oracle.isExposed(agent, box.clock.now);
    const who = identityOf(agent);
    expect((await this.#world.send([], who, { here, elsewhere: [] })).kind).toBe('taken');
    this.oracle.emails.set(await box.store.read(newest, account), exposed);
  }

  async #copy(agent: Agent, email: number): Promise<void> {
    const { box, account } = this.#world;
    const where = { from: account, email, account, mailboxes: [this.#folders[0] ?? 0], flags: null, receivedAt: null };
    const done = await box.store.write(copyEmail, { ...where, ifFromState: null, ifState: null });
    if (done.kind !== 'placed') return;
    this.oracle.emails.set(done.email, this.oracle.emails.get(email) === true);
    if (this.#foreign.has(email)) this.#foreign.add(done.email);
    await this.#label(agent, done.email);
  }

  async #label(agent: Agent, email: number): Promise<void> {
    const { box, account } = this.#world;
    const add = { bits: 0, keywords: [`k${++this.#n}`] };
    const keywords = { kind: 'patch', add, remove: { bits: 0, keywords: [] } } as const;
    await box.store.write(changeEmails, {
      account,
      by: agent,
      ifState: null,
      changes: [{ email, keywords, mailboxes: null }],
    });
    if (!this.oracle.isExposed(agent, box.clock.now)) return;
    this.oracle.emails.set(email, true);
    this.oracle.words.add('labels');
  }

  /** The new version has the creator of the old one, as drafts have; a person's edit makes it clean. */
  async #edit(by: Agent | null, replaces: number): Promise<void> {
    const { box, account } = this.#world;
    if (this.#foreign.has(replaces)) return;
    const email = await this.#store(null);
    await box.store.write(edited, { account, by, email, replaces });
    const exposed = by !== null && this.oracle.isExposed(by, box.clock.now);
    this.oracle.emails.set(email, by !== null && (exposed || this.oracle.emails.get(replaces) === true));
  }

  /** To somebody whom the mailbox has never written to. */
  async #sendOutside(agent: Agent): Promise<void> {
    const { box } = this.#world;
    const exposed = this.oracle.isExposed(agent, box.clock.now);
    const tainted = (await box.store.read(since, { agent, now: box.clock.now })) !== undefined;
    if (this.#random.chance(0.1)) {
      const done = await this.#world.send([`new${++this.#n}@x.example`], identityOf(agent));
      expect(done.kind).toBe(tainted ? 'waits' : 'taken');
    }
    if (exposed && !tainted) this.counts.laundered++;
    this.counts[tainted ? 'held' : 'free']++;
  }
}

test(`${STEPS} steps of agents that pass content on launder none of it`, { timeout: 1_800_000 }, async () => {
  const random = new Random(SEED);
  const counts = { held: 0, free: 0, laundered: 0 };
  for (let steps = 0; steps < STEPS; steps += ROUND) {
    await using world = await GateWorld.open([derive, edited]);
    await world.box.store.write(derive, undefined);
    const model = new Model(world, random, await world.box.store.read(folders, world.account));
    for (let step = 0; step < ROUND; step++) await model.step();
    for (const kind of ['held', 'free', 'laundered'] as const) counts[kind] += model.counts[kind];
  }
  expect(counts.laundered, `MODEL_SEED=${SEED}`).toBe(0);
  expect(counts.held).toBeGreaterThan(STEPS / 100);
  expect(counts.free).toBeGreaterThan(STEPS / 100);
});
