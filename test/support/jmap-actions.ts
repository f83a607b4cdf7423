import { StoreBackend } from '../../mail/imap/store-backend.ts';
import type { MailboxInfo } from '../../mail/store/mailbox/mailbox.ts';
import {
  purgeDeletedFolder,
  purgeExpunged,
  purgeTombstones,
  deletedMailboxes,
} from '../../mail/store/retention/purge.ts';
import { receiveMessage, testBackend } from './receive-message.ts';
import { readExpectedObjects } from './jmap-oracle.ts';
import type { JmapFixture } from './jmap-fixture.ts';
import type { Random } from './random.ts';
import { finishAppend } from './finish-append.ts';

const SUBJECTS = ['one', 'two', 'three', 'four', 'five', 'six'];
const NAMES = ['a', 'b', 'c', 'd/e', 'd/f', 'a/g'];
const KEYWORDS = ['$Forwarded', '$Junk', 'work'];
/** Messages in one mailbox, more than one deletion slice. */
const MANY = 230;
/** Maximum messages of the account, since every step compares all. */
const ENOUGH = 300;

/** Random changes of one account by IMAP, SMTP, JMAP and retention jobs. */
export class Actions {
  readonly #world: JmapFixture;
  readonly #random: Random;
  readonly #imap: StoreBackend;
  readonly #all: readonly [weight: number, act: () => Promise<unknown>][];
  #messages = 0;

  constructor(fixture: JmapFixture, random: Random) {
    this.#world = fixture;
    this.#random = random;
    this.#imap = new StoreBackend(fixture.box.store, fixture.account, () => fixture.box.clock.now);
    this.#all = [
      [20, () => this.#append()],
      [4, () => this.#deliver()],
      [30, () => this.#flags()],
      [12, () => this.#copy(false)],
      [14, () => this.#copy(true)],
      [8, () => this.#expunge()],
      [3, () => this.#imap.create(random.one(NAMES))],
      [3, () => this.#imap.rename(random.one(NAMES), random.one(NAMES))],
      [2, () => this.#imap.remove(random.one([...NAMES, 'Trash', 'Junk', 'Archive']))],
      [2, () => this.#imap.subscribe(random.one(NAMES), random.chance(0.5))],
      [3, () => this.#set()],
      [12, () => this.#setEmails()],
      [0.3, () => this.#fill()],
      [4, () => this.#cleanUp()],
    ];
  }

  /** Makes one change, if possible. */
  async one(): Promise<void> {
    this.#world.box.clock.now += 1000;
    let left = this.#random.next() * this.#all.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, act] of this.#all) {
      left -= weight;
      if (left < 0) return void (await act());
    }
  }

  async #mailbox(): Promise<MailboxInfo> {
    return this.#random.one(await this.#imap.mailboxes());
  }

  /** Random UIDs of a mailbox, mostly few. */
  async #some(share = 0.2): Promise<{ mailbox: MailboxInfo; uids: number[] }> {
    const mailbox = await this.#mailbox();
    const view = await this.#world.box.store.view(this.#world.account, mailbox.id);
    const uids = Array.from(view.uids.subarray(0, view.length));
    view.close();
    if (uids.length === 0) return { mailbox, uids };
    const few = this.#random.chance(0.7) ? [this.#random.one(uids)] : this.#random.some(uids, share);
    return { mailbox, uids: few };
  }

  #flagSet(): { bits: number; keywords: string[] } {
    const bits = [1, 2, 4, 8, 16].filter(() => this.#random.chance(0.25)).reduce((sum, bit) => sum | bit, 0);
    return { bits, keywords: this.#random.some(KEYWORDS, 0.2) };
  }

  #message(): string {
    const own = ++this.#messages;
    const parent = this.#random.below(own + 3);
    const reply = parent > 0 && parent < own ? `References: <m${parent}@box.test>\r\n` : '';
    return `From: a@remote.example\r\nMessage-ID: <m${own}@box.test>\r\n${reply}Subject: ${this.#random.one(SUBJECTS)}\r\n\r\nHello\r\n`;
  }

  async #isFull(): Promise<boolean> {
    const all = await this.#imap.mailboxes();
    return all.reduce((sum, { total }) => sum + total, 0) > ENOUGH;
  }

  async #append(): Promise<void> {
    if (await this.#isFull()) return this.#expunge();
    const { name } = await this.#mailbox();
    const octets = Buffer.from(this.#message());
    const sink = this.#imap.append(octets.length);
    if ('kind' in sink) throw new Error(sink.kind);
    await sink.write(octets);
    const receivedAt = this.#world.box.clock.now - this.#random.below(100) * 60_000;
    await finishAppend(this.#imap, sink, { mailbox: name, flags: this.#flagSet(), receivedAt });
  }

  async #deliver(): Promise<void> {
    if (await this.#isFull()) return;
    await receiveMessage(testBackend(this.#world.box), {
      from: 'a@remote.example',
      to: 'me@box.test',
      body: this.#message(),
    });
  }

  async #flags(): Promise<void> {
    const { mailbox, uids } = await this.#some();
    await this.#imap.store(mailbox.id, uids, this.#random.one(['add', 'remove', 'replace']), this.#flagSet());
  }

  async #copy(move: boolean): Promise<void> {
    if (!move && (await this.#isFull())) return;
    const { mailbox, uids } = await this.#some();
    await this.#imap.copy(mailbox.id, uids, (await this.#mailbox()).name, move);
  }

  async #expunge(): Promise<void> {
    const mailbox = await this.#mailbox();
    const view = await this.#world.box.store.view(this.#world.account, mailbox.id);
    const uids = Array.from(view.uids.subarray(0, view.length));
    view.close();
    if (this.#random.chance(0.3)) {
      await this.#imap.store(mailbox.id, this.#random.some(uids, 0.4), 'add', { bits: 16, keywords: [] });
    }
    await this.#imap.expunge(mailbox.id, this.#random.chance(0.5) ? uids : this.#random.some(uids, 0.5));
  }

  /** Creates a mailbox larger than a deletion slice, and often deletes it. */
  async #fill(): Promise<void> {
    const name = this.#random.one(NAMES);
    await this.#imap.create(name);
    const { mailbox, uids } = await this.#some(1);
    if (uids.length === 0) return;
    await this.#imap.copy(mailbox.id, uids, name, this.#random.chance(0.3));
    const target = await this.#imap.mailbox(name);
    if (target === undefined) return;
    for (let total = target.total; total > 0 && total < MANY; total *= 2) {
      const view = await this.#world.box.store.view(this.#world.account, target.id);
      const all = Array.from(view.uids.subarray(0, view.length));
      view.close();
      await this.#imap.copy(target.id, all, name, false);
    }
    if (this.#random.chance(0.8)) await this.#imap.remove(name);
  }

  /** Mailbox/set, which may be refused. */
  async #set(): Promise<void> {
    const all = await this.#world.call('Mailbox/get', { properties: ['role', 'name'] });
    const { id } = this.#random.one(all['list'] as { id: string }[]);
    const patch = this.#random.one([
      { role: 'trash' },
      { role: null },
      { role: 'junk' },
      { sortOrder: this.#random.below(3) },
      { name: `n${this.#random.below(3)}` },
      { isSubscribed: this.#random.chance(0.5) },
      { parentId: this.#random.one(all['list'] as { id: string }[]).id },
      { parentId: null },
    ]);
    if (this.#random.chance(0.8)) await this.#world.call('Mailbox/set', { update: { [id]: patch } });
    else if (this.#random.chance(0.5)) {
      await this.#world.call('Mailbox/set', { create: { k: { name: `n${this.#random.below(3)}`, parentId: id } } });
    } else {
      await this.#world.call('Mailbox/set', { destroy: [id], onDestroyRemoveEmails: this.#random.chance(0.5) });
    }
  }

  /** Email/set: keywords, mailboxes, destroying; several at once now and then. */
  async #setEmails(): Promise<void> {
    const { Email, Mailbox } = await readExpectedObjects(this.#world);
    const mailboxes = [...Mailbox.keys()];
    const emails = this.#random.some([...Email.keys()], 0.02);
    if (this.#random.chance(0.2)) return void (await this.#world.call('Email/set', { destroy: emails }));
    const patch = (): Record<string, unknown> =>
      this.#random.one([
        { 'keywords/$seen': this.#random.one([true, null]) },
        { keywords: { $flagged: true, work: true } },
        { [`mailboxIds/${this.#random.one(mailboxes)}`]: this.#random.one([true, null]) },
        { mailboxIds: { [this.#random.one(mailboxes)]: true } },
      ]);
    await this.#world.call('Email/set', { update: Object.fromEntries(emails.map((id) => [id, patch()])) });
  }

  async #cleanUp(): Promise<void> {
    const { store, clock } = this.#world.box;
    if (this.#random.chance(0.6)) {
      for (const { id, account_id: account } of await store.read(deletedMailboxes, { account: null })) {
        await store.writeSlice(purgeDeletedFolder, { account, mailbox: id });
      }
    }
    // Sometimes purges old tombstones.
    const before = clock.now - this.#random.below(200) * 1000;
    if (this.#random.chance(0.3)) await store.writeSlice(purgeExpunged, { before });
    if (this.#random.chance(0.05)) await store.writeSlice(purgeTombstones, { before: before - 200_000 });
  }
}
