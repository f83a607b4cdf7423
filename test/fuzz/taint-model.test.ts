import { expect, test } from 'vitest';
import { areWordsTainted, markWordsOfWriter } from '../../mail/agents/taint/content.ts';
import {
  markTainted,
  outsidersMail,
  purgeTaints,
  recordTaints,
  type TaintReader,
} from '../../mail/agents/taint/taint.ts';
import { dueMessages, sendScheduled } from '../../mail/delivery/scheduled-messages.ts';
import { appendMessages } from '../../mail/store/mailbox/append-commands.ts';
import { copyEntries, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { changeEmails } from '../../mail/store/message/email-change-commands.ts';
import { copyEmail, storeEmail } from '../../mail/store/message/email-commands.ts';
import { importMessages } from '../../mail/store/transfer/imported.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { testAccount } from '../support/store.ts';
import {
  HOUR,
  WINDOW,
  AGENTS,
  type Agent,
  byPassword,
  identityOf,
  KINDS,
  derive,
  govern,
  edited,
  since,
  newest,
  uidIn,
  slots,
  folders,
  Oracle,
} from '../support/taint-oracle.ts';
import { GateWorld } from '../support/gate-world.ts';
import { Random } from '../support/random.ts';

const STEPS = Number(process.env['MODEL_STEPS'] ?? 100_000);
const SEED = Number(process.env['MODEL_SEED'] ?? 20_261_122);
/** Steps in one world: afterwards its mailbox is long. */
const ROUND = 400;
/** A delivery to the mailbox itself. */
const here = (account: number) => ({ account, to: 'me@box.test', trace: 'Return-Path: <me@box.test>\r\n' });

interface Setting {
  folders: readonly number[];
  credential: number;
  colleague: { account: number; inbox: number };
}

class Model {
  readonly oracle = new Oracle();
  readonly counts = { held: 0, free: 0, laundered: 0 };
  readonly #world: GateWorld;
  readonly #random: Random;
  readonly #folders: readonly number[];
  /** Mail of strangers: no draft. */
  readonly #foreign = new Set<number>();
  /** Copies in the mailbox of a colleague, in which the agents with tokens work too. */
  readonly #colleagues = new Set<number>();
  readonly #credential: number;
  readonly #colleague: { account: number; inbox: number };
  /** The newest uploads, with their times. */
  #uploads: { kind: string; at: number }[] = [];
  #n = 0;

  private constructor(world: GateWorld, random: Random, setting: Setting) {
    this.#world = world;
    this.#random = random;
    this.#folders = setting.folders;
    this.#credential = setting.credential;
    this.#colleague = setting.colleague;
  }

  static async open(world: GateWorld, random: Random): Promise<Model> {
    const { account, box } = world;
    await box.store.write(derive, undefined);
    const colleague = await testAccount(box.store, 'colleague');
    const credential = await box.store.write(govern, account);
    return new Model(world, random, { folders: await box.store.read(folders, account), credential, colleague });
  }

  async step(): Promise<void> {
    const random = this.#random;
    const agent = random.one(AGENTS);
    const known = [...this.oracle.emails.keys()];
    const email = known.length === 0 ? 0 : random.one(known);
    const pick = random.below(100);
    if (known.length > 0 && random.chance(0.2)) return this.#rarer(agent, email);
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

  /** Channels that came later. */
  async #rarer(agent: Agent, email: number): Promise<void> {
    const random = this.#random;
    const ways = [
      () => this.#import(random.chance(0.5) ? agent : null),
      () => this.#append(agent),
      () => this.#storeWithoutEffect(),
      () => this.#patchWithoutEffect(agent, email),
      () => this.#duplicate(email),
      () => this.#toColleague(email),
      () => this.#schedule(agent),
      () => this.#deliverScheduled(),
    ];
    return random.one(ways)();
  }

  /** An mbox file: its message is an outsider's, its keywords may be the sender's, and whoever imports it chose them all. */
  async #import(by: Agent | null): Promise<void> {
    const { box, account } = this.#world;
    const octets = Buffer.from(`From: eve@evil.example\r\nSubject: i${++this.#n}\r\n\r\nText\r\n`);
    const sendersKeywords = this.#random.chance(0.5);
    const base = { account, mailbox: this.#folders[0] ?? 0, receivedAt: box.clock.now, pass: this.#n, remote: null };
    const content = { data: Uint8Array.from(octets), file: null, index: indexMessage(octets) };
    const hash = new Uint8Array(16);
    new DataView(hash.buffer).setUint32(0, this.#n);
    if (by !== null) await box.store.write(markWordsOfWriter, { account, by, kinds: ['labels', 'folders'] });
    const flags = { bits: 0, keywords: [`i${this.#n}`] };
    const [done] = await box.store.write(importMessages, {
      messages: [{ ...base, ...content, hash, flags, sendersKeywords }],
    });
    if (done?.kind !== 'imported') expect.fail(done?.kind);
    this.oracle.emails.set(done.email, true);
    this.#foreign.add(done.email);
    const isLeaked = by !== null && this.oracle.isLeaked(by, box.clock.now);
    if (sendersKeywords || isLeaked) this.oracle.words.add('labels');
    if (isLeaked) this.oracle.words.add('folders');
  }

  /** A message with a keyword: IMAP APPEND with the password, Email/import with a token. */
  async #append(agent: Agent): Promise<void> {
    const { box, account } = this.#world;
    const leaked = this.oracle.isLeaked(agent, box.clock.now);
    const flags = { bits: 0, keywords: [`a${++this.#n}`] };
    const octets = Buffer.from(`From: me@box.test\r\nSubject: a${this.#n}\r\n\r\nText\r\n`);
    const data = Uint8Array.from(octets);
    const receivedAt = box.clock.now;
    const index = indexMessage(octets);
    const mailbox = this.#folders[1] ?? 0;
    if (byPassword(agent)) {
      const messages = [{ file: null, length: data.length, index, flags, receivedAt }];
      const into = { account, mailbox, replaces: null, actor: { credential: this.#credential } };
      expect(await box.store.write(appendMessages, { ...into, data, messages })).toMatchObject({ kind: 'appended' });
    } else {
      const where = { account, mailboxes: [mailbox], by: agent, flags, receivedAt, ifState: null };
      const message = { data, file: null, index };
      expect(await box.store.write(storeEmail, { ...where, ...message })).toMatchObject({ kind: 'placed' });
    }
    this.oracle.emails.set(await box.store.read(newest, account), leaked);
    if (leaked) this.oracle.words.add('labels');
  }

  /** STORE of a message that is not there: the keyword is listed all the same while slots are free. */
  async #storeWithoutEffect(): Promise<void> {
    const { box, account } = this.#world;
    const change = {
      account,
      mailbox: this.#folders[0] ?? 0,
      uids: [999_999],
      how: 'add',
      unchangedSince: null,
    } as const;
    const flags = { bits: 0, keywords: [`s${++this.#n}`] };
    const before = await box.store.read(slots, account);
    await box.store.write(storeFlags, { ...change, flags, actor: { credential: this.#credential } });
    const isListed = (await box.store.read(slots, account)) > before;
    if (isListed && this.oracle.isLeaked('mbx_1', box.clock.now)) this.oracle.words.add('labels');
  }

  /** Email/set that sets a keyword and removes it at once. */
  async #patchWithoutEffect(agent: Agent, email: number): Promise<void> {
    if (this.#colleagues.has(email)) return;
    const { box, account } = this.#world;
    const both = { bits: 0, keywords: [`p${++this.#n}`] };
    const keywords = { kind: 'patch', add: both, remove: both } as const;
    const before = await box.store.read(slots, account);
    const changes = [{ email, keywords, mailboxes: null }];
    await box.store.write(changeEmails, { account, by: agent, ifState: null, changes });
    const isListed = (await box.store.read(slots, account)) > before;
    if (isListed && this.oracle.isLeaked(agent, box.clock.now)) this.oracle.words.add('labels');
  }

  /** IMAP COPY into the same folder, which makes a second email. */
  async #duplicate(email: number): Promise<void> {
    const { box, account } = this.#world;
    const mailbox = this.#random.one(this.#folders);
    const uid = await box.store.read(uidIn, { mailbox, email });
    if (uid === undefined) return;
    await box.store.write(copyEntries, { account, mailbox, to: mailbox, uids: [uid], move: false });
    const copy = await box.store.read(newest, account);
    this.oracle.emails.set(copy, this.oracle.emails.get(email) === true);
    if (this.#foreign.has(email)) this.#foreign.add(copy);
  }

  /** A person copies a message unread into the mailbox of a colleague, as shared mailboxes allow. */
  async #toColleague(email: number): Promise<void> {
    if (this.#colleagues.has(email)) return;
    const { box, account: from } = this.#world;
    const { account, inbox } = this.#colleague;
    const where = { from, email, account, mailboxes: [inbox], flags: null, receivedAt: null };
    const done = await box.store.write(copyEmail, { ...where, by: null, ifFromState: null, ifState: null });
    if (done.kind !== 'placed') return;
    this.oracle.emails.set(done.email, this.oracle.emails.get(email) === true);
    this.#colleagues.add(done.email);
    this.#foreign.add(done.email);
  }

  /** Mail within the organization that leaves later: what its agent had read counts when it was accepted. */
  async #schedule(agent: Agent): Promise<void> {
    const { box } = this.#world;
    const [now, at] = [box.clock.now, box.clock.now + this.#random.below(60) * HOUR];
    const tainted = this.oracle.isLeaked(agent, now);
    const done = await this.#world.send([], identityOf(agent), {
      here: [here(this.#world.account)],
      elsewhere: [],
      sendAt: at + 1,
    });
    expect(done.kind).toBe('waits');
    this.oracle.scheduled.push({ at: at + 1, tainted });
  }

  async #deliverScheduled(): Promise<void> {
    const { box, account } = this.#world;
    const { due } = await box.store.read(dueMessages, { now: box.clock.now });
    const waiting = this.oracle.scheduled.toSorted((a, b) => a.at - b.at);
    expect(due.length).toBe(waiting.filter(({ at }) => at <= box.clock.now).length);
    const [next] = due;
    const [known] = waiting;
    if (next === undefined || known === undefined) return;
    const octets = Buffer.from('From: me@box.test\r\nSubject: Hello\r\n\r\nText\r\n');
    const where = { local: [], here: [here(account)], elsewhere: [], onward: [], unreachable: [], suppressed: [] };
    const released = { id: next.id, index: indexMessage(octets), hold: null, sha256: '', ...where };
    await box.store.write(sendScheduled, released);
    this.oracle.scheduled.splice(this.oracle.scheduled.indexOf(known), 1);
    this.oracle.emails.set(await box.store.read(newest, account), known.tainted);
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
    if (this.oracle.isLeaked(agent, box.clock.now)) this.oracle.words.add(kind);
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
    const { box } = this.#world;
    const account = this.#colleagues.has(email) ? this.#colleague.account : this.#world.account;
    const reader: TaintReader = this.#world.reader(identityOf(agent));
    const outside = await box.store.read(outsidersMail, { ...reader, account, emails: [email] });
    if (outside.length > 0) await box.store.write(recordTaints, { reader, account, emails: outside });
    this.oracle.use(agent, email, box.clock.now);
  }

  /** A draft of an agent. */
  async #write(agent: Agent): Promise<void> {
    this.oracle.emails.set(await this.#store(agent), this.oracle.isLeaked(agent, this.#world.box.clock.now));
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
    const exposed = this.oracle.isLeaked(agent, box.clock.now);
    const who = identityOf(agent);
    expect((await this.#world.send([], who, { here: [here(account)], elsewhere: [] })).kind).toBe('taken');
    this.oracle.emails.set(await box.store.read(newest, account), exposed);
  }

  async #copy(agent: Agent, email: number): Promise<void> {
    if (this.#colleagues.has(email)) return;
    const { box, account } = this.#world;
    const where = { from: account, email, account, mailboxes: [this.#folders[0] ?? 0], flags: null, receivedAt: null };
    const done = await box.store.write(copyEmail, { ...where, by: null, ifFromState: null, ifState: null });
    if (done.kind !== 'placed') return;
    this.oracle.emails.set(done.email, this.oracle.emails.get(email) === true);
    if (this.#foreign.has(email)) this.#foreign.add(done.email);
    await this.#label(agent, done.email);
  }

  async #label(agent: Agent, email: number): Promise<void> {
    if (this.#colleagues.has(email)) return;
    const { box, account } = this.#world;
    const add = { bits: 0, keywords: [`k${++this.#n}`] };
    const keywords = { kind: 'patch', add, remove: { bits: 0, keywords: [] } } as const;
    await box.store.write(changeEmails, {
      account,
      by: agent,
      ifState: null,
      changes: [{ email, keywords, mailboxes: null }],
    });
    if (!this.oracle.isLeaked(agent, box.clock.now)) return;
    this.oracle.emails.set(email, true);
    this.oracle.words.add('labels');
  }

  /** The new version has the creator of the old one, as drafts have; a person's edit makes it clean. */
  async #edit(by: Agent | null, replaces: number): Promise<void> {
    const { box, account } = this.#world;
    if (this.#foreign.has(replaces)) return;
    const email = await this.#store(null);
    await box.store.write(edited, { account, by, email, replaces });
    const exposed = by !== null && this.oracle.isLeaked(by, box.clock.now);
    this.oracle.emails.set(email, by !== null && (exposed || this.oracle.emails.get(replaces) === true));
  }

  /** To somebody whom the mailbox has never written to. */
  async #sendOutside(agent: Agent): Promise<void> {
    const { box } = this.#world;
    const exposed = this.oracle.isLeaked(agent, box.clock.now);
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
    await using world = await GateWorld.open([derive, edited, govern]);
    const model = await Model.open(world, random);
    for (let step = 0; step < ROUND; step++) await model.step();
    for (const kind of ['held', 'free', 'laundered'] as const) counts[kind] += model.counts[kind];
  }
  expect(counts.laundered, `MODEL_SEED=${SEED}`).toBe(0);
  expect(counts.held).toBeGreaterThan(STEPS / 100);
  expect(counts.free).toBeGreaterThan(STEPS / 100);
});
