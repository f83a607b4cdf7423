import type { KeyObject } from 'node:crypto';
import { type Arrived, UNKNOWN } from '../auth/authenticate.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { Log, Meter } from '../log.ts';
import { type Address, addressKey, formatAddress } from '../message/address.ts';
import { successReport } from '../message/bounce.ts';
import { MessageIndexer } from '../message/indexer.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { REPORT_MAX } from '../message/report.ts';
import type { Login } from '../login/types.ts';
import { type Accepted, deliver, type Delivery, deliveryTrace } from '../delivery/deliver.ts';
import { type ForwardedMail, type Kept, planForwards, returned } from '../delivery/forward.ts';
import { copyOf, type IncomingReports, incomingReports } from '../delivery/incoming-report.ts';
import { ownReport } from '../delivery/own-report.ts';
import { lookupKeys, route, routeAtOwnName, routeOutward } from '../delivery/route.ts';
import { allowAll, type Policy } from '../delivery/policy.ts';
import { type Outgoing, type Submission, submit, type Submitted } from '../delivery/submit.ts';
import { SubmissionHeader } from '../delivery/submission-header.ts';
import { looksRewritten, originalSender } from '../forwarder/srs.ts';
import { ownsAddress } from '../store/account.ts';
import type { Allowance } from '../store/allowance.ts';
import type { Budget } from '../store/budget.ts';
import type { BlobWriter, NewBlob } from '../store/blob.ts';
import { MOST_REPORTS } from '../store/departed.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';
import { pausedText } from './answer.ts';
import { HeaderBlock } from './header-block.ts';
import { overText } from './over-text.ts';
import { ReportPace } from './report-pace.ts';
import { traceId } from './trace-id.ts';
import type { Envelope, Intake, MessageSink, Recipient, Refusal, Route } from './needs.ts';

/** RFC 5321 6.3 asks for at least 100. */
const MOST_RECEIVED = 100;
const CHUNK = 64 * 1024;
/** Reports an hour that go back to one author of what was forwarded. */
const MOST_RETURNED = 20;
/** A plan is made anew when another message has used up a forward meanwhile; each time there is less to plan. */
const MOST_PLANS = 5;

export interface StoreIntakeOptions {
  store: MailStore;
  /** Our own name. */
  hostname: string;
  /** Why mail for elsewhere may not go out now; null lets it go. */
  hold: string | null;
  /** For whom an account sends, and how much that may be; null and left out: no limit. */
  senderOf(account: number): Promise<{ tenant: number; allowance: Allowance | null; budgets?: readonly Budget[] }>;
  /** May hold or refuse what an account sends; left out: nothing of it. */
  policy?: Policy;
  /** Of the box: rewritten senders and markers of what it forwards. */
  forwardKey: Buffer;
  /** Of the box: the senders under which single copies leave. */
  reportKey: KeyObject;
  /** Says what SPF, DKIM, DMARC and ARC make of a message; null in local mode, where nobody is asked. */
  authenticate: ((mail: Arrived) => Promise<Authentication>) | null;
  log: Log;
  meter: Meter;
  /** Something was queued: the relay may look. */
  queued(): void;
  clock: () => number;
}

/** Stands between the SMTP door and the store: what is accepted becomes one commit. */
export class StoreIntake implements Intake {
  readonly options: StoreIntakeOptions;
  /** Reports that nobody can match. */
  readonly unasked = new ReportPace();
  /** Those that go back to an author elsewhere. */
  readonly returned = new ReportPace<string>(MOST_RETURNED);

  constructor(options: StoreIntakeOptions) {
    this.options = options;
  }

  async route(to: Address, login: Login | undefined): Promise<Route> {
    const { store, hostname } = this.options;
    const about = login === undefined ? await copyOf(this.options, to) : undefined;
    if (about !== undefined)
      return about.reports < MOST_REPORTS ? { kind: 'report', copy: about } : { kind: 'unknown' };
    const where = await (login === undefined ? route : routeOutward)(store, to);
    if (where.kind === 'elsewhere' && to.domain === hostname) return routeAtOwnName(store, to);
    return where.kind === 'unknown' ? this.#returnOf(to) : where;
  }

  /** A local part that nobody has may be a sender that was rewritten here. */
  #returnOf(to: Address): Route {
    const { forwardKey, clock } = this.options;
    const original = looksRewritten(to.local) ? originalSender(to, forwardKey, clock()) : undefined;
    return original === undefined ? { kind: 'unknown' } : { kind: 'return', to: original };
  }

  async maySend(login: Login, sender: Address | undefined): Promise<'own' | 'paused' | 'foreign'> {
    // The null reverse-path is for receipts that a person's client sends (RFC 8098); their From is checked like any.
    if (sender === undefined) return 'own';
    return this.owns(login, sender);
  }

  owns(login: Login, address: Address): Promise<'own' | 'paused' | 'foreign'> {
    return this.options.store.read(ownsAddress, { account: login.account, keys: lookupKeys(address) });
  }

  ready(): Refusal | undefined {
    if (this.options.store.unavailable() === undefined) return undefined;
    return { kind: 'refused', code: 452, enhanced: '4.3.1', text: 'The disk is nearly full, try again later' };
  }

  countForwards({ onward, kept }: Planned): void {
    const { meter } = this.options;
    if (onward.length > 0) meter.count('forwards_total', { outcome: 'sent_on' }, onward.length);
    for (const { kind } of kept) meter.count('forwards_total', { outcome: kind });
  }

  open(envelope: Envelope): MessageSink {
    return envelope.login === undefined
      ? new ArrivingMessage(this, envelope)
      : new SubmittedMessage(this, envelope, envelope.login);
  }
}

type Planned = Pick<Accepted, 'deliveries' | 'onward'> & { kept: readonly Kept[] };

/** What both kinds of message share: bytes go to the blob and through the index at once. */
abstract class IncomingMessage {
  protected readonly intake: StoreIntake;
  protected readonly envelope: Envelope;
  readonly #writer: BlobWriter;
  readonly #indexer = new MessageIndexer();
  /** Kept where somebody's mail goes on. */
  readonly #head: HeaderBlock | undefined;
  #noRoom: StoreBusy | undefined;

  constructor(intake: StoreIntake, envelope: Envelope) {
    this.intake = intake;
    this.envelope = envelope;
    this.#head = envelope.recipients.some(({ route: where }) => goesOn(where)) ? new HeaderBlock() : undefined;
    this.#writer = intake.options.store.files.create();
    void this.keep(Buffer.from(envelope.received));
  }

  abort(): void {
    this.#writer.abort();
  }

  protected keep(chunk: Buffer): Promise<void> | undefined {
    this.#indexer.push(chunk);
    this.#head?.push(chunk);
    if (this.#noRoom !== undefined) return undefined;
    return this.#writer.write(chunk)?.catch((error: unknown) => {
      if (!(error instanceof StoreBusy)) throw error;
      // The rest is read all the same: the answer is due at the end.
      this.#noRoom = error;
      this.abort();
    });
  }

  /** Runs the one command that makes the message exist; whatever fails leaves nothing behind. */
  protected async commit(
    write: (blob: CrossingBlob, index: MessageIndex) => Refusal | Promise<Refusal | undefined>,
  ): Promise<Refusal | undefined> {
    const { store } = this.intake.options;
    const index = this.#indexer.end();
    if (index.received > MOST_RECEIVED) {
      this.abort();
      return refuse(554, '5.4.6', 'Too many Received fields: this message is going round in circles');
    }
    if (this.#noRoom !== undefined) return busy(this.#noRoom);
    try {
      const blob = await this.#finished();
      const refusal = await write(crossing(blob), index);
      if (refusal !== undefined) this.abort();
      else if ('file' in blob) store.files.settled(blob.file);
      return refusal;
    } catch (error) {
      // Only a clear refusal proves that no row names the file. After anything else the transaction may be on disk;
      // the sweep of the next start knows.
      if (!(error instanceof StoreBusy)) throw error;
      this.abort();
      return busy(error);
    }
  }

  async #finished(): Promise<NewBlob> {
    try {
      return await this.#writer.finish();
    } catch (error) {
      this.abort();
      throw error;
    }
  }

  /** How the message begins, for what looks at more than its index. */
  protected async firstOctets({ data, file }: CrossingBlob): Promise<Buffer> {
    if (file !== null) return this.intake.options.store.files.read(file.file, 0, Math.min(file.size, REPORT_MAX));
    return Buffer.from(data ?? []).subarray(0, REPORT_MAX);
  }

  protected delivery(account: number, address: Address): Delivery {
    const { sender } = this.envelope;
    const to = formatAddress(address);
    return { account, to, trace: deliveryTrace(sender === undefined ? '' : formatAddress(sender), to) };
  }

  /** Those who get it and have nothing forwarded: one copy an account, however many of its addresses were named. */
  protected deliveries(): Delivery[] {
    const byAccount = new Map<number, Delivery>();
    for (const to of this.envelope.recipients) {
      if (isHere(to) && !isForwarded(to.route) && !byAccount.has(to.route.account))
        byAccount.set(to.route.account, this.delivery(to.route.account, to.address));
    }
    return [...byAccount.values()];
  }

  /** Who gets the message, and where copies go on to; the header, which is whole by now, has a say in it. */
  protected async plan(known: Pick<ForwardedMail, 'authors' | 'proof'>): Promise<Planned | Refusal> {
    if (this.#head === undefined) return { deliveries: this.deliveries(), onward: [], kept: [] };
    const { store, forwardKey: key, clock } = this.intake.options;
    const { sender, recipients } = this.envelope;
    const going = recipients.filter(({ route: where }) => isForwarded(where)).map((one) => one.address);
    const mail = { sender, fields: this.#head.fields(), key, now: clock(), ...known };
    const { accounts, onward, lost, kept } = await planForwards(store, going, mail);
    if (lost.length > 0) return unreached(lost, kept);
    for (const { route: where } of recipients) {
      if (where.kind !== 'return') continue;
      const back = await routeOutward(store, where.to);
      // Who wrote it may be one of ours.
      if (back.kind === 'here' || back.kind === 'full') accounts.set(back.account, where.to);
      else onward.push(returned(where.to));
    }
    const staying = this.deliveries();
    const more = [...accounts].filter(([account]) => !staying.some((one) => one.account === account));
    const deliveries = [...staying, ...more.map(([account, address]) => this.delivery(account, address))];
    return { deliveries, onward, kept };
  }
}

/** Nobody would get it for one of the recipients: then it is not taken for any, and its sender hears of it. */
function unreached(lost: readonly Address[], kept: readonly Kept[]): Refusal {
  const [first] = lost;
  const to = first === undefined ? 'An address' : formatAddress(first);
  const reasons = kept.filter(({ recipient }) => recipient === first);
  // What may be over later comes first: the same mail may pass then.
  const reason = reasons.find(({ kind }) => ANSWERS[kind].code < 500) ?? reasons[0];
  if (reason === undefined) return refuse(451, '4.2.1', `${to} leads nowhere at the moment, try again later`);
  const { code, enhanced } = ANSWERS[reason.kind];
  const later = code < 500 ? '; try again later' : '';
  return refuse(code, enhanced, `Mail for ${to} is only forwarded, and this message is not: ${reason.why}${later}`);
}

const ANSWERS: Readonly<Record<Kept['kind'], { code: number; enhanced: string }>> = {
  automatic: { code: 550, enhanced: '5.7.1' },
  loop: { code: 550, enhanced: '5.4.6' },
  unproven: { code: 550, enhanced: '5.7.1' },
  trouble: { code: 451, enhanced: '4.7.0' },
  spent: { code: 451, enhanced: '4.7.1' },
  pending: { code: 450, enhanced: '4.2.1' },
  stopped: { code: 450, enhanced: '4.2.1' },
};

/** From the world, to mailboxes of this box, and on from there. */
class ArrivingMessage extends IncomingMessage implements MessageSink {
  #authentication: Authentication | undefined;

  write(chunk: Buffer): Promise<void> | undefined {
    return this.keep(chunk);
  }

  async finish(): Promise<{ kind: 'accepted' } | Refusal> {
    const refusal = await this.commit((blob, index) => this.#tooManyReports() ?? this.#deliver(blob, index));
    return refusal ?? { kind: 'accepted' };
  }

  async #deliver(blob: CrossingBlob, index: MessageIndex): Promise<Refusal | undefined> {
    const { store } = this.intake.options;
    const incoming = await this.#reports(blob, index);
    for (let plans = 0; plans < MOST_PLANS; plans++) {
      const plan = await this.#provenPlan(blob);
      if ('code' in plan) return plan;
      const done = await store.write(deliver, this.#accepted(plan, incoming, blob, index));
      if (done.kind === 'spent') continue;
      this.#tell(plan, done.reached);
      if (!done.stored) this.abort();
      if (done.queued > 0) this.intake.options.queued();
      this.intake.countForwards(plan);
      return undefined;
    }
    return refuse(451, '4.7.1', 'Too much is forwarded at this moment, try again later');
  }

  #accepted(
    { kept, deliveries, onward }: Planned,
    { reports, unasked }: IncomingReports,
    blob: CrossingBlob,
    index: MessageIndex,
  ): Accepted {
    const { id, sender, peer, body, smtputf8, requireTls = false } = this.envelope;
    return {
      trace: id,
      sender: sender === undefined ? '' : formatAddress(sender),
      deliveries: unasked ? deliveries.map((one) => ({ ...one, quiet: true })) : deliveries,
      onward,
      reports,
      kept: [...new Map(kept.map(({ tenant, source, why }) => [`${source} ${why}`, { tenant, source, why }])).values()],
      from: { ip: peer.ip, helo: peer.helo },
      eightBit: body === '8BITMIME',
      smtputf8,
      requireTls,
      hold: this.intake.options.hold,
      index,
      ...blob,
    };
  }

  /**
   * Who wrote a message is asked only when a copy of it would leave. Where it cannot be found out, or the answer is bad,
   * a mailbox at the forward keeps the mail, and only the forward of this one message is missing: to answer "later"
   * would make a mailbox depend on the name servers of everybody who writes to it.
   */
  async #provenPlan(blob: CrossingBlob): Promise<Planned | Refusal> {
    const { authenticate, hostname: authserv } = this.intake.options;
    const plan = await this.plan({});
    if ('code' in plan || authenticate === null || !plan.onward.some(({ source }) => source !== undefined)) return plan;
    this.#authentication ??= await this.#authenticate(blob, authenticate);
    return this.plan({ proof: { authserv, authentication: this.#authentication } });
  }

  async #authenticate(
    blob: CrossingBlob,
    authenticate: (mail: Arrived) => Promise<Authentication>,
  ): Promise<Authentication> {
    const { sender, peer, id } = this.envelope;
    const chunks = (): AsyncIterable<Buffer> => octetsOf(this.intake.options.store, blob);
    try {
      return await authenticate({ ...peer, sender: sender === undefined ? '' : formatAddress(sender), chunks });
    } catch (error) {
      this.intake.options.log.error({ err: error, message: id }, 'who wrote a message could not be checked');
      return UNKNOWN;
    }
  }

  /** Mail that is written in the name of a mailbox elsewhere comes back to it, as often as somebody likes. */
  #tooManyReports(): Refusal | undefined {
    const { unasked, returned: back, options } = this.intake;
    const now = options.clock();
    if (this.envelope.sender !== undefined) return undefined;
    const over = this.envelope.recipients.find(({ route: where }) => {
      if (where.kind === 'here') return !unasked.take(where.account, now);
      return where.kind === 'return' && !back.take(addressKey(where.to), now);
    });
    return over && refuse(452, '4.7.1', `${formatAddress(over.address)} gets too many reports, try again later`);
  }

  #reports(blob: CrossingBlob, index: MessageIndex): Promise<IncomingReports> {
    const { sender, recipients } = this.envelope;
    const named = recipients.flatMap(({ route: where }) => (where.kind === 'report' ? [where.copy] : []));
    return incomingReports(this.intake.options, { sender, named, index, octets: () => this.firstOctets(blob) });
  }

  #tell({ kept }: Planned, reached: readonly string[]): void {
    const { log } = this.intake.options;
    const message = this.envelope.id;
    for (const source of reached) log.warn({ source }, 'this address has forwarded all it may today');
    const loop = kept.find(({ kind }) => kind === 'loop');
    if (loop !== undefined) log.warn({ message, source: loop.source, why: loop.why }, 'a loop of forwards ends here');
  }
}

async function* octetsOf({ files }: MailStore, { data, file }: CrossingBlob): AsyncIterable<Buffer> {
  if (data !== null) yield Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (file === null) return;
  for (let at = 0; at < file.size; at += CHUNK) yield await files.read(file.file, at, Math.min(CHUNK, file.size - at));
}

function isForwarded(where: Route): boolean {
  return where.kind === 'forward' || (where.kind === 'here' && where.forwards === true);
}

function goesOn(where: Route): boolean {
  return where.kind === 'return' || isForwarded(where);
}

/** From somebody who logged in, to anybody. */
class SubmittedMessage extends IncomingMessage implements MessageSink {
  readonly #login: Login;
  readonly #header: SubmissionHeader;

  constructor(intake: StoreIntake, envelope: Envelope, login: Login) {
    super(intake, envelope);
    this.#login = login;
    this.#header = new SubmissionHeader({
      now: intake.options.clock(),
      messageIdDomain: envelope.sender?.domain ?? login.address.domain,
      id: envelope.id,
    });
  }

  write(chunk: Buffer): Promise<void> | undefined {
    const through = this.#header.push(chunk);
    return through === undefined ? undefined : this.keep(through);
  }

  async finish(): Promise<{ kind: 'accepted' } | Refusal> {
    const rest = this.#header.end();
    if (rest !== undefined) await this.keep(rest);
    const refusal = this.#wrongAuthor() ?? (await this.#go());
    return refusal ?? { kind: 'accepted' };
  }

  /** What no reader would take for one author; whether it is the sender's own name, the gate knows. */
  #wrongAuthor(): Refusal | undefined {
    const { authors } = this.#header;
    if (authors.kind === 'authors' && authors.fromFields === 1) return undefined;
    this.abort();
    return refuse(550, '5.6.0', authors.kind === 'refused' ? authors.why : 'A message needs exactly one From field');
  }

  async #go(): Promise<Refusal | undefined> {
    const plan = await this.plan({ authors: this.#header.authorDomains });
    if (!('code' in plan)) return this.commit((blob, index) => this.#submit(plan, blob, index));
    this.abort();
    return plan;
  }

  async #submit(plan: Planned, blob: CrossingBlob, index: MessageIndex): Promise<Refusal | undefined> {
    const { id, sender, recipients, smtputf8, body, ret, envid, requireTls = false } = this.envelope;
    const { store, hold, policy = allowAll } = this.intake.options;
    const { account } = this.#login;
    const { authors } = this.#header;
    const { budgets = [], ...whose } = await this.intake.options.senderOf(account);
    const to = recipients.map((one) => formatAddress(one.address));
    const from = sender === undefined ? '' : formatAddress(sender);
    const mail: Submission = {
      trace: id,
      account,
      ...whose,
      budgets,
      sender: from,
      smtputf8,
      eightBit: body === '8BITMIME',
      ret: ret ?? '',
      envid: envid ?? '',
      requireTls,
      signAs: this.#header.authorDomains,
      authors: authors.kind === 'authors' ? [...authors.from, ...authors.others] : [],
      as: { kind: 'account', account },
      spares: false,
      guard: null,
      verdict: await policy({ ...whose, account, credential: null, sender: from, recipients: to, size: index.size }),
      sendAt: null,
      here: plan.deliveries,
      local: [
        ...new Set(recipients.filter((to) => to.route.kind !== 'elsewhere').map((to) => formatAddress(to.address))),
      ],
      onward: plan.onward,
      elsewhere: elsewhere(recipients),
      hold,
      index,
      ...blob,
    };
    const report = await this.#report(blob, index);
    if (report !== undefined) mail.report = report;
    const done = await store.write(submit, mail);
    if (done.kind === 'taken' && done.queued) this.intake.options.queued();
    this.intake.countForwards(plan);
    return refusalOf(done);
  }

  /** To who asked to be told of success; recipients elsewhere are told of when they have it. RFC 3461 5.2.6, 5.2.7. */
  async #report(blob: CrossingBlob, index: MessageIndex): Promise<Outgoing | undefined> {
    const { sender: to, recipients, envid } = this.envelope;
    const about = recipients.filter(({ dsn, route: where }) => dsn.notify?.includes('SUCCESS') && isOurs(where));
    if (to === undefined || about.length === 0) return undefined;
    const { store, hold, hostname, clock } = this.intake.options;
    const bytes = successReport({
      hostname,
      to,
      now: clock(),
      ...(envid !== undefined && { envelopeId: envid }),
      originalHeader: (await this.firstOctets(blob)).subarray(0, index.headerLength),
      recipients: about.map(({ address, dsn, route: where }) => ({
        address,
        expanded: isForwarded(where),
        ...(dsn.orcpt !== undefined && { originalRecipient: dsn.orcpt }),
      })),
    });
    return ownReport(store, { to, bytes, trace: traceId(), hold });
  }
}

function isOurs(where: Route): boolean {
  return where.kind === 'here' || where.kind === 'forward';
}

function refusalOf(done: Submitted): Refusal | undefined {
  switch (done.kind) {
    case 'taken':
    case 'waits':
      return undefined;
    case 'over':
      return overText(done);
    case 'foreign':
      if (done.why === 'paused') return refuse(550, '5.7.1', pausedText(done.domain));
      return refuse(550, '5.7.1', `You may not send as ${done.address}: it is not one of your addresses`);
    case 'refused':
      return refuse(550, '5.7.1', done.because);
    case 'suppressed':
    case 'repeated':
    case 'changed':
      throw new Error(`a person's message was stopped as ${done.kind}`);
  }
}

function elsewhere(recipients: readonly Recipient[]): Submission['elsewhere'] {
  const rows = new Map(
    recipients
      .filter((to) => to.route.kind === 'elsewhere')
      .map((to) => [
        formatAddress(to.address), // not without its case: what that means is for its own server to say, RFC 5321 2.4
        {
          recipient: formatAddress(to.address),
          domain: to.address.domain,
          notify: to.dsn.notify?.join(',') ?? '',
          orcpt: to.dsn.orcpt ?? '',
        },
      ]),
  );
  return [...rows.values()];
}

function isHere(to: Recipient): to is Recipient & { route: Route & { kind: 'here' } } {
  return to.route.kind === 'here';
}

type CrossingBlob = { data: Uint8Array | null; file: { file: string; size: number } | null };

function crossing(blob: NewBlob): CrossingBlob {
  return 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
}

function busy({ reason }: StoreBusy): Refusal {
  return reason === 'disk-full'
    ? refuse(452, '4.3.1', 'The disk is full, try again later')
    : refuse(451, '4.3.2', 'Too busy, try again later');
}

function refuse(code: number, enhanced: string, text: string): Refusal {
  return { kind: 'refused', code, enhanced, text };
}
