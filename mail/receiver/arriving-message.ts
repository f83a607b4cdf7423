import { UNKNOWN } from '../auth/authenticate.ts';
import type { Authentication, Dmarc } from '../auth/authentication.ts';
import { claimedDomains } from '../delivery/claimed-domains.ts';
import { type Accepted, deliver, type Delivery } from '../delivery/deliver.ts';
import { deliveryTo, oneEach } from '../delivery/deliveries.ts';
import type { Filing } from '../delivery/filing.ts';
import { type IncomingReports, incomingReports } from '../delivery/incoming-report.ts';
import type { TakenReport } from '../delivery/report.ts';
import type { Judgement } from '../judge/judging.ts';
import { addressKey, formatAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { MessageIndexer } from '../message/indexer.ts';
import { HeaderGate } from './header-gate.ts';
import { type CrossingBlob, IncomingMessage, isForwarded, type Planned, type Refused } from './incoming-message.ts';
import type { IntakeDesk, Judging } from './intake-desk.ts';
import type { Envelope, MessageSink, Refusal } from './needs.ts';
import { refuse, takenNoMore } from './refusal.ts';
import { type Ends, type Ruling, ruling } from './ruling.ts';
import { isOfServer, type ReportMail } from './server-report.ts';

/** A plan is made anew when another message has used up a forward meanwhile; each time there is less to plan. */
const MOST_PLANS = 5;

/** From the world, to mailboxes of this box, and on from there. */
export class ArrivingMessage extends IncomingMessage<MessageIndex> implements MessageSink {
  readonly #gate: HeaderGate;
  #judgement: Judgement | undefined;

  constructor(intake: IntakeDesk, envelope: Envelope) {
    super(intake, envelope, new MessageIndexer(intake.options.store.secretLinks));
    this.#gate = new HeaderGate(intake.options.hostname);
  }

  write(chunk: Buffer): Promise<void> | undefined {
    return this.#keep(this.#gate.push(chunk));
  }

  async finish(): Promise<{ kind: 'accepted' } | Refusal> {
    await this.#keep(this.#gate.end());
    if (this.#gate.isTooLong) {
      this.abort();
      return TOO_LONG;
    }
    const refusal = await this.commit((blob, index) => this.#tooManyReports() ?? this.#take(blob, index));
    return refusal ?? { kind: 'accepted' };
  }

  #keep([first, second]: readonly Buffer[]): Promise<void> | undefined {
    const kept = first && this.keep(first);
    if (second === undefined) return kept;
    return kept === undefined ? this.keep(second) : kept.then(() => this.keep(second));
  }

  async #take(blob: CrossingBlob, index: MessageIndex): Promise<Refused | undefined> {
    const { judging, hostname } = this.intake.options;
    if (await this.answered(blob, index)) return undefined;
    const incoming = await this.#reports(blob, index);
    if (judging?.checks !== true) return this.#deliver(blob, index, incoming);
    const { ends, copies } = await this.#ends(index);
    const reached = [...ends.accounts, ...incoming.reports.flatMap(({ delivery }) => delivery?.account ?? [])];
    const judgement = await this.#judged(blob, index, judging, reached);
    if (judgement === undefined) return UNJUDGED;
    const how = { authserv: hostname, refuses: judging.network, ends };
    const ruled = ruling(judgement, this.envelope.recipients, how);
    this.#tellRuling(ruled, judgement);
    if (judging.slows(this.envelope.peer.ip)) await this.intake.slow.hold(ruled.delay);
    if (ruled.refusal === undefined) {
      const filed = this.#filedReports(incoming, { index, dmarc: judgement.authentication.dmarc, ruled });
      return filed === undefined ? UNCHECKED : this.#deliver(blob, index, filed, ruled);
    }
    return this.#reject(blob, index, { ruled, refusal: ruled.refusal, copies });
  }

  /** Where its forwards lead: what is filed for somebody is filed by their own word, however it came to them. */
  async #ends({ secretLink }: MessageIndex): Promise<{ ends: Ends; copies: readonly Delivery[] }> {
    const { met: instead, bare } = await this.followed(({ kind }) => kind === 'forward', { secretLink });
    const beside = await this.followed((where) => where.kind === 'here' && isForwarded(where), { secretLink });
    const copies = oneEach([...instead, ...beside.met]);
    const ends = { accounts: accountsOf(copies), instead: accountsOf(instead), bare };
    return { ends, copies };
  }

  async #deliver(
    blob: CrossingBlob,
    index: MessageIndex,
    incoming: IncomingReports,
    ruled?: Ruling,
  ): Promise<Refusal | undefined> {
    const { store } = this.intake.options;
    for (let plans = 0; plans < MOST_PLANS; plans++) {
      const plan = await this.#provenPlan(blob, index, ruled);
      if ('code' in plan) return plan;
      const deliveries = plan.deliveries.map((one) => ({ ...one, quiet: incoming.unasked, ...filed(one, ruled) }));
      const done = await store.write(deliver, this.#accepted({ ...plan, deliveries }, incoming.reports, blob, index));
      if (done.kind === 'spent') continue;
      if (done.kind === 'over') return takenNoMore(this.envelope.recipients);
      this.#tell(plan, done.reached);
      if (!done.stored) this.abort();
      if (done.queued > 0) this.intake.options.queued();
      this.countForwards(plan);
      return undefined;
    }
    return refuse(451, '4.7.1', 'Too much is forwarded at this moment, try again later');
  }

  /** What is refused can be looked at for some days, by those who want that. Its sender is told no all the same. */
  async #reject(
    blob: CrossingBlob,
    index: MessageIndex,
    { ruled, refusal, copies }: { ruled: Ruling; refusal: Refusal; copies: readonly Delivery[] },
  ): Promise<Refused> {
    const { store, log } = this.intake.options;
    const { sender, recipients } = this.envelope;
    // Not by its alias, which counts what it took.
    const whose = recipients.flatMap(({ address, route: where }) =>
      where.kind === 'here'
        ? where.accounts.filter((one) => ruled.kept.includes(one)).map((one) => deliveryTo(one, address, sender))
        : [],
    );
    const passed = copies.filter(({ account }) => ruled.kept.includes(account));
    const deliveries = oneEach([...whose, ...passed]).map((one) => ({ ...one, ...filed(one, ruled) }));
    if (refusal.code < 500 || deliveries.length === 0) return refusal;
    try {
      const kept = await store.write(deliver, this.#accepted({ deliveries, onward: [], kept: [] }, [], blob, index));
      if (kept.kind === 'delivered' && kept.stored) return { ...refusal, stored: true };
    } catch (error) {
      log.warn({ err: error, message: this.envelope.id }, 'a refused message could not be kept to be looked at');
      // It may have been stored all the same, and then a row names its file.
      if (!(error instanceof StoreBusy)) return { ...refusal, stored: true };
    }
    return refusal;
  }

  #accepted(
    { kept, deliveries, onward }: Planned,
    reports: Accepted['reports'],
    blob: CrossingBlob,
    index: MessageIndex,
  ): Accepted {
    const { id, sender, peer, body, smtputf8, requireTls = false } = this.envelope;
    return {
      trace: id,
      sender: sender === undefined ? '' : formatAddress(sender),
      deliveries,
      onward,
      reports: reports ?? [],
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
   * Without checks who wrote a message is asked only when a copy of it would leave. Where it cannot be found out, or the
   * answer is bad, a mailbox at the forward keeps the mail, and only the forward of this one message is missing: to
   * answer "later" would make a mailbox depend on the name servers of everybody who writes to it.
   */
  async #provenPlan(blob: CrossingBlob, index: MessageIndex, ruled: Ruling | undefined): Promise<Planned | Refusal> {
    const { hostname: authserv } = this.intake.options;
    const { secretLink } = index;
    const plan = await this.plan({ secretLink, ...ruled?.reach });
    if ('code' in plan) return plan;
    const claimed = await this.#claimed(plan);
    const goesOn = plan.onward.some(({ source }) => source !== undefined);
    const authentication = goesOn || claimed.length > 0 ? await this.#knownAuthor(blob, index) : undefined;
    const refusal = unproven(claimed, authentication?.dmarc);
    if (refusal !== undefined) return refusal;
    return goesOn && authentication !== undefined
      ? this.plan({ secretLink, proof: { authserv, authentication }, ...ruled?.reach })
      : plan;
  }

  /** Domains of this box in whose name a report would go back to somebody elsewhere. */
  async #claimed({ onward }: Planned): Promise<string[]> {
    const { store, hostname } = this.intake.options;
    // What is no forward is a report that goes back.
    if (onward.every(({ source }) => source !== undefined)) return [];
    return claimedDomains(store, hostname, this.fields());
  }

  /** Undefined where nobody is asked. */
  async #knownAuthor(blob: CrossingBlob, index: MessageIndex): Promise<Authentication | undefined> {
    const { judging } = this.intake.options;
    if (judging === null || !judging.network) return undefined;
    return (await this.#judged(blob, index, judging))?.authentication ?? UNKNOWN;
  }

  /** Undefined when nothing can be said at the moment; asked at most once. */
  async #judged(
    { data, file }: CrossingBlob,
    { headerLength, parts, size }: MessageIndex,
    { judge, checks }: Judging,
    reached: readonly number[] = [],
  ): Promise<Judgement | undefined> {
    if (this.#judgement !== undefined) return this.#judgement;
    const { store, log, clock } = this.intake.options;
    const { sender, peer, id, recipients } = this.envelope;
    const accounts = recipients.flatMap(({ route: where }) => (where.kind === 'here' ? where.accounts : []));
    try {
      this.#judgement = await judge.judge({
        trace: id,
        octets: file === null ? (data ?? new Uint8Array()) : store.files.path(file.file),
        size,
        headerLength,
        parts,
        peer: { ip: peer.ip, helo: peer.helo },
        sender: sender === undefined ? '' : formatAddress(sender),
        recipients: recipients.map(({ address }) => formatAddress(address)),
        accounts: [...new Set([...accounts, ...reached])],
        checks,
        now: clock(),
      });
    } catch (error) {
      log.error({ err: error, message: id }, 'a message could not be judged');
    }
    return this.#judgement;
  }

  /** Mail that is written in the name of a mailbox elsewhere comes back to it, as often as somebody likes. */
  #tooManyReports(): Refusal | undefined {
    const { unasked, returned: back, options } = this.intake;
    const now = options.clock();
    if (this.envelope.sender !== undefined) return undefined;
    const over = this.envelope.recipients.find(({ route: where }) => {
      if (where.kind === 'here') return where.accounts.some((account) => !unasked.take(account, now));
      return where.kind === 'return' && !back.take(addressKey(where.to), now);
    });
    return over && refuse(452, '4.7.1', `${formatAddress(over.address)} gets too many reports, try again later`);
  }

  #reports(blob: CrossingBlob, index: MessageIndex): Promise<IncomingReports> {
    const { sender, recipients } = this.envelope;
    const named = recipients.flatMap(({ route: where }) => (where.kind === 'report' ? [where.copy] : []));
    return incomingReports(this.intake.options, { sender, named, index, octets: () => this.firstOctets(blob) });
  }

  /**
   * Filed as any mail: whoever got one message of ours knows where its reports go, and writes into them what they like.
   * What a report says counts all the same. Undefined: it cannot be told now whose one is.
   */
  #filedReports(
    incoming: IncomingReports,
    { ruled, ...mail }: Omit<ReportMail, 'sender'> & { ruled: Ruling },
  ): IncomingReports | undefined {
    const { sender } = this.envelope;
    const reports: TakenReport[] = [];
    for (const one of incoming.reports) {
      const { delivery } = one;
      const ofServer = isOfServer(one, { sender, ...mail });
      if (delivery !== null && !ofServer && ruled.waits(delivery.account)) return undefined;
      const filed = delivery && { ...delivery, filing: ruled.filing(delivery.account, { ofServer }) };
      reports.push({ ...one, delivery: filed });
    }
    return { ...incoming, reports };
  }

  #tellRuling({ refusal }: Ruling, { findings, accounts }: Judgement): void {
    const rules = [...findings, ...accounts.flatMap((one) => one.findings)].map(
      ({ rule, score }) => `${rule} ${score}`,
    );
    const outcome = refusal === undefined ? 'taken' : refusal.code < 500 ? 'later' : 'refused';
    this.intake.options.meter.count('judged_messages_total', { outcome });
    this.intake.options.log.debug({ message: this.envelope.id, outcome, rules }, 'message judged');
  }

  #tell({ kept }: Planned, reached: readonly string[]): void {
    const { log } = this.intake.options;
    const message = this.envelope.id;
    for (const source of reached) log.warn({ source }, 'this address has forwarded all it may today');
    const loop = kept.find(({ kind }) => kind === 'loop');
    if (loop !== undefined) log.warn({ message, source: loop.source, why: loop.why }, 'a loop of forwards ends here');
  }
}

const UNJUDGED = refuse(451, '4.3.0', 'The message cannot be checked at the moment, try again later');
const UNCHECKED = refuse(451, '4.7.0', 'The DNS does not tell now whose report it is, try again later');

const TOO_LONG = refuse(552, '5.3.4', 'The header is longer than 256 KiB');

function accountsOf(copies: readonly Delivery[]): number[] {
  return copies.map(({ account }) => account);
}

function filed({ account }: Delivery, ruled: Ruling | undefined): { filing?: Filing } {
  return ruled === undefined ? {} : { filing: ruled.filing(account) };
}

/**
 * Who sends a report back through us wrote it: our address and the name that we greet with would vouch for an author of
 * ours to the servers elsewhere, and nobody has shown to be that author.
 */
function unproven(claimed: readonly string[], dmarc: Dmarc | undefined): Refusal | undefined {
  const [domain] = claimed.filter((one) => dmarc?.result !== 'pass' || dmarc.domain !== one);
  if (domain === undefined) return undefined;
  if (dmarc?.result === 'temperror') {
    return refuse(
      451,
      '4.7.0',
      `It names an author at ${domain}, which could not be checked at the moment; try again later`,
    );
  }
  return refuse(550, '5.7.1', `It names an author at ${domain} and cannot show it: a report names who reports`);
}
