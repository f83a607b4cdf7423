import { setTimeout as delay } from 'node:timers/promises';
import type { ImapWorld } from '../imap-world.ts';
import type { Random } from '../random.ts';
import { onPostgres } from '../test-database.ts';
import { ModelClient } from './client.ts';
import { KnownMailboxes } from './known-mailboxes.ts';
import type { MailboxTruth } from './mailbox-truth.ts';
import { ImapReplica } from './replica.ts';
import type { ImapTruth, TruthMailbox } from './truth.ts';

/** The parts that all sessions of one run share. */
export interface ModelAccount {
  readonly world: ImapWorld;
  readonly truth: ImapTruth;
  readonly mailboxes: MailboxTruth;
  readonly random: Random;
  readonly sessions: ModelSession[];
  /** COPY beside MOVE. */
  readonly copies: boolean;
  /** A message arrives in INBOX, as by SMTP. */
  deliver(): Promise<void>;
}

/** Expunges wait for a command, so that sequence numbers of the model's next one stay right. */
const NOTIFY =
  'NOTIFY SET (selected-delayed (MessageNew MessageExpunge FlagChange))' +
  ' (personal (MessageNew MessageExpunge FlagChange MailboxName SubscriptionChange))';

/** One client of the model: what it knows, compared with the truth. */
export class ModelSession {
  readonly account: ModelAccount;
  readonly client: ModelClient;
  readonly qresync: boolean;
  readonly condstore: boolean;
  readonly compress: boolean;
  /** It is notified without IDLE, of all mailboxes. RFC 5465. */
  readonly notify: boolean;
  readonly known = new KnownMailboxes();
  /** The selected mailbox. */
  selected: TruthMailbox | undefined;
  replica = new ImapReplica();
  /** The last mailbox with what is known of it, for QRESYNC. */
  #kept: { box: TruthMailbox; name: string; replica: ImapReplica } | undefined;
  /** A STATUS of the mailbox came while it was left: it is newer than what the client counted. */
  #hasStatus = false;
  /** Names of mailboxes in notifications are not those of a LIST that runs. */
  #isListing = false;

  constructor(account: ModelAccount, kind: number) {
    this.account = account;
    this.client = new ModelClient(account.world, (line, noExpunge) => this.#take(line, noExpunge));
    this.qresync = kind % 3 === 0;
    this.condstore = this.qresync || kind % 3 === 1;
    this.compress = kind % 4 === 2;
    this.notify = kind % 2 === 1;
  }

  /** It can run a command: it is connected, and nobody deleted its mailbox. */
  get isReady(): boolean {
    return this.client.connected && this.selected?.gone !== true;
  }

  /** The selected mailbox. Throws when none is selected. */
  get box(): TruthMailbox {
    if (this.selected === undefined) throw new Error('no mailbox is selected');
    return this.selected;
  }

  async connect(): Promise<void> {
    this.selected = undefined;
    this.known.clear();
    await this.client.connect(this);
    if (this.qresync) await this.client.command('ENABLE QRESYNC');
    else if (this.condstore) await this.client.command('ENABLE CONDSTORE');
    if (!this.notify) return;
    await this.client.command(NOTIFY);
    await this.client.command('LIST "" "*" RETURN (SUBSCRIBED STATUS (MESSAGES UNSEEN))');
  }

  cut(): void {
    this.client.cut();
    this.selected = undefined;
  }

  /** Compares the replica with the truth, after everything was reported. */
  async check(): Promise<void> {
    const { random, truth } = this.account;
    if (!this.isReady) return;
    if (this.selected !== undefined && random.chance(0.3)) await this.client.idle();
    else await this.client.command('NOOP');
    if (this.notify) await this.#notified(truth);
    if (this.selected === undefined) return;
    await this.learn();
    this.#compare('after NOOP');
  }

  /**
   * Compares the mailboxes that the client knows of. On PostgreSQL their numbers are read beside the commands of the session, and
   * may be reported after one that began later: RFC 5465 has no order of both.
   */
  async #notified(truth: ImapTruth): Promise<void> {
    for (let left = onPostgres ? 100 : 0; left > 0 && this.known.differs(truth, this.selected); left--) {
      await delay(20);
      await this.client.command('NOOP');
    }
    this.known.compare(truth, this.selected);
  }

  /** Runs LIST, whose responses are no notifications. */
  async list(command: string): Promise<string[]> {
    this.#isListing = true;
    try {
      return await this.client.command(command);
    } finally {
      this.#isListing = false;
    }
  }

  async leave(how: 'CLOSE' | 'UNSELECT'): Promise<void> {
    if (how === 'CLOSE') this.account.truth.expunge(this.box, this.replica.uids());
    await this.client.command(how);
    if (how === 'CLOSE') this.#leaveReplica((flags) => !flags.includes('\\Deleted'));
    else this.#leaveReplica(() => true);
  }

  /** RFC 7162 3.2.11: what came before is about the mailbox before. */
  #onClosed(): void {
    this.#leaveReplica();
    this.replica = new ImapReplica();
  }

  /** The mailbox is not selected any more; what is left of it stays known. */
  #leaveReplica(isLeft: (flags: string) => boolean = () => true): void {
    const box = this.selected;
    if (box === undefined) return;
    const left = this.replica.messages.filter(({ flags }) => isLeft(flags ?? ''));
    const unseen = left.filter(({ flags }) => flags?.includes('\\Seen') !== true).length;
    const isUnsure = left.some(({ flags }) => flags === undefined);
    if (!this.#hasStatus) this.known.counted(box.name, left.length, isUnsure ? undefined : unseen);
    this.#hasStatus = false;
    this.#kept = { box, name: box.name, replica: this.replica };
    this.selected = undefined;
  }

  /** SELECT of a name that is no mailbox leaves none selected. RFC 9051 6.3.2. */
  async selectMissing(name: string): Promise<void> {
    await this.client.command(`SELECT ${name}`, { refusal: 'NONEXISTENT' });
  }

  async select(box: TruthMailbox): Promise<void> {
    const { random } = this.account;
    const before = this.selected;
    const old = before === undefined ? this.#kept : { box: before, name: before.name, replica: this.replica };
    const isKept = old !== undefined && (old.box === box || old.name === box.name) && old.replica.highest > 0;
    const resync = this.qresync && isKept && random.chance(0.8) ? old : undefined;
    const uids = resync?.replica.uids() ?? [];
    const set = uids.length > 0 && random.chance(0.5) ? ` ${uids.join(',')}` : '';
    this.#hasStatus = false;
    if (before === undefined) this.replica = new ImapReplica();
    const parameter =
      resync === undefined ? '' : ` (QRESYNC (${resync.replica.uidValidity} ${resync.replica.highest}${set}))`;
    await this.client.command(`SELECT ${box.name}${parameter}`);
    if (before !== undefined && this.selected !== undefined) throw new Error('SELECT without CLOSED');
    this.selected = box;
    this.#checkValidity(box);
    // RFC 7162 3.2.5: with another UIDVALIDITY, as of a new mailbox of that name, nothing is known.
    if (resync === undefined || resync.box !== box) await this.learn();
    else await this.#resynchronized(resync.replica);
    this.#compare(parameter === '' ? 'after SELECT' : 'after SELECT with QRESYNC');
  }

  /** RFC 9051 2.3.1.1: it stays with the mailbox, and is greater in a later one. */
  #checkValidity(box: TruthMailbox): void {
    const { uidValidity } = this.replica;
    if (uidValidity !== (box.uidValidity ??= uidValidity))
      throw new Error(`UIDVALIDITY of ${box.name} was ${box.uidValidity} and is ${uidValidity}`);
    const others = this.account.truth.mailboxes.filter((each) => each !== box && each.uidValidity === uidValidity);
    if (others.length > 0) throw new Error(`UIDVALIDITY of ${box.name} is that of ${others[0]?.name}`);
    if (this.#kept?.name === box.name && this.#kept.box.gone && uidValidity <= this.#kept.replica.uidValidity)
      throw new Error(`UIDVALIDITY of ${box.name} did not go up`);
  }

  /** RFC 7162 3.2.5: the old copy, without what vanished, with what changed, is the mailbox. */
  async #resynchronized(old: ImapReplica): Promise<void> {
    this.replica.completeFrom(old);
    await this.learn();
  }

  /** Fetches what the client does not know yet. */
  async learn(): Promise<void> {
    const unknown = this.replica.messages.findIndex(({ uid, flags }) => uid === undefined || flags === undefined);
    if (unknown >= 0) await this.client.command(`FETCH ${unknown + 1}:* (UID FLAGS${this.condstore ? ' MODSEQ' : ''})`);
  }

  #compare(when: string): void {
    const { truth } = this.account;
    const known = this.replica.messages.map(({ uid, flags }) => `${uid}(${flags})`).join(', ');
    const real = truth.uids(this.box).map((uid) => `${uid}(${truth.flags(this.box, uid)})`);
    if (known !== real.join(', '))
      throw new Error(`${when}, ${this.box.name}: the client has ${known}; the truth is ${real.join(', ')}`);
  }

  #take(line: string, noExpunge: boolean): void {
    if (this.notify && !this.#isListing) this.known.take(line);
    if (!this.#isListing && line.startsWith(`* STATUS ${this.selected?.name} `)) this.#hasStatus = true;
    // Until now the client had another mailbox of this name, which the STATUS was about.
    if (line.includes(` ${this.selected?.name} ("OLDNAME" `)) this.#hasStatus = false;
    if (line.startsWith('* OK [CLOSED]')) this.#onClosed();
    // Explicit FETCH of FLAGS alone needs no MODSEQ.
    this.replica.take(line, { noExpunge, condstore: this.condstore, qresync: this.qresync });
  }
}
