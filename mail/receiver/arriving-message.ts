import { type Arrived, UNKNOWN } from '../auth/authenticate.ts';
import type { Authentication, Dmarc } from '../auth/authentication.ts';
import { claimedDomains } from '../delivery/claimed-domains.ts';
import { type Accepted, deliver } from '../delivery/deliver.ts';
import { type IncomingReports, incomingReports } from '../delivery/incoming-report.ts';
import { addressKey, formatAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { MessageIndexer } from '../message/indexer.ts';
import type { MailStore } from '../store/store.ts';
import { type CrossingBlob, IncomingMessage, type Planned } from './incoming-message.ts';
import type { IntakeDesk } from './intake-desk.ts';
import type { Envelope, MessageSink, Refusal } from './needs.ts';
import { refuse, takenNoMore } from './refusal.ts';

const CHUNK = 64 * 1024;
/** A plan is made anew when another message has used up a forward meanwhile; each time there is less to plan. */
const MOST_PLANS = 5;

/** From the world, to mailboxes of this box, and on from there. */
export class ArrivingMessage extends IncomingMessage<MessageIndex> implements MessageSink {
  #authentication: Authentication | undefined;

  constructor(intake: IntakeDesk, envelope: Envelope) {
    super(intake, envelope, new MessageIndexer());
  }

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
      if (done.kind === 'over') return takenNoMore(this.envelope.recipients);
      this.#tell(plan, done.reached);
      if (!done.stored) this.abort();
      if (done.queued > 0) this.intake.options.queued();
      this.countForwards(plan);
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
    const { hostname: authserv } = this.intake.options;
    const plan = await this.plan({});
    if ('code' in plan) return plan;
    const claimed = await this.#claimed(plan);
    const goesOn = plan.onward.some(({ source }) => source !== undefined);
    const authentication = goesOn || claimed.length > 0 ? await this.#knownAuthor(blob) : undefined;
    const refusal = unproven(claimed, authentication?.dmarc);
    if (refusal !== undefined) return refusal;
    return goesOn && authentication !== undefined ? this.plan({ proof: { authserv, authentication } }) : plan;
  }

  /** Domains of this box in whose name a report would go back to somebody elsewhere. */
  async #claimed({ onward }: Planned): Promise<string[]> {
    const { store, hostname } = this.intake.options;
    // What is no forward is a report that goes back.
    if (onward.every(({ source }) => source !== undefined)) return [];
    return claimedDomains(store, hostname, this.fields());
  }

  /** Undefined where nobody is asked. */
  async #knownAuthor(blob: CrossingBlob): Promise<Authentication | undefined> {
    const { authenticate } = this.intake.options;
    if (authenticate === null) return undefined;
    this.#authentication ??= await this.#authenticate(blob, authenticate);
    return this.#authentication;
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
