import { aboutMessage } from '../delivery/agent/about-message.ts';
import { countAgentMail } from '../delivery/agent/count.ts';
import { whyOf } from '../delivery/agent/why.ts';
import { allowAll } from '../delivery/policy.ts';
import { SubmissionHeader } from '../delivery/submission-header.ts';
import { type Outgoing, type Submission, submit, type Submitted } from '../delivery/submit.ts';
import { reportOfSuccess } from '../delivery/success-report.ts';
import type { Login } from '../login/types.ts';
import { formatAddress } from '../message/address.ts';
import { FactsReader } from '../message/facts.ts';
import { type MessageFacts, type MessageIndex, wholeIndex } from '../message/index-types.ts';
import { MessageIndexer } from '../message/indexer.ts';
import { pausedText } from './answer.ts';
import { type CrossingBlob, IncomingMessage, isForwarded, type Planned } from './incoming-message.ts';
import type { IntakeDesk } from './intake-desk.ts';
import type { Envelope, MessageSink, Recipient, Refusal, Route } from './needs.ts';
import { overText } from './over-text.ts';
import { refuse } from './refusal.ts';
import { traceId } from './trace-id.ts';

/** From somebody who logged in, to anybody. */
export class SubmittedMessage extends IncomingMessage<MessageFacts | MessageIndex> implements MessageSink {
  readonly #login: Login;
  readonly #header: SubmissionHeader;

  constructor(intake: IntakeDesk, envelope: Envelope, login: Login) {
    const passes = envelope.recipients.every(({ route: where }) => where.kind === 'elsewhere');
    super(intake, envelope, passes ? new FactsReader() : new MessageIndexer(intake.options.store.secretLinks));
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
    return this.commit(async (blob, index) => {
      const secretLink = 'envelope' in index ? index.secretLink : undefined;
      const plan = await this.plan({ authors: this.#header.authorDomains, secretLink });
      return 'code' in plan ? plan : this.#submit(plan, blob, index);
    });
  }

  async #submit(plan: Planned, blob: CrossingBlob, index: MessageFacts): Promise<Refusal | undefined> {
    if (await this.answered(blob, index)) return undefined;
    const { id, sender, recipients, smtputf8, body, ret, envid, requireTls = false } = this.envelope;
    const { store, hold, clock, policy = allowAll } = this.intake.options;
    const { account, credential: login } = this.#login;
    const { authors } = this.#header;
    const { budgets = [], ...whose } = await this.intake.options.senderOf(account);
    const to = recipients.map((one) => formatAddress(one.address));
    const from = sender === undefined ? '' : formatAddress(sender);
    const asked = { ...whose, account, credential: null, login, sender: from, recipients: to, size: index.size };
    const told = await aboutMessage(store, await policy(asked), {
      ...asked,
      now: clock(),
      door: 'smtp',
      index,
      ...blob,
    });
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
      ...told,
      sendAt: null,
      here: plan.deliveries,
      local: [
        ...new Set(recipients.filter((to) => to.route.kind !== 'elsewhere').map((to) => formatAddress(to.address))),
      ],
      onward: plan.onward,
      elsewhere: rowsFor(recipients.filter(({ route: where }) => where.kind === 'elsewhere')),
      wishes: rowsFor(recipients.filter(({ route: where }) => isOurs(where))),
      hold,
      ...blob,
    };
    const report = await this.#report(blob, index);
    if (report !== undefined) mail.report = report;
    const done = await store.write(submit, mail);
    countAgentMail(this.intake.options.meter, mail.verdict, done);
    if (done.kind === 'taken' && done.queued) this.intake.options.queued();
    if (done.kind === 'taken') this.countForwards(plan);
    return refusalOf(done);
  }

  /** To who asked to be told of success. */
  async #report(blob: CrossingBlob, index: MessageFacts): Promise<Outgoing | undefined> {
    const { sender: to, recipients, envid = '' } = this.envelope;
    const about = recipients.filter(({ dsn, route: where }) => dsn.notify?.includes('SUCCESS') && isOurs(where));
    if (to === undefined || about.length === 0) return undefined;
    const { store, hold, hostname, clock } = this.intake.options;
    const reached = about.map(({ address, dsn, route: where }) => ({
      address,
      expanded: isForwarded(where),
      orcpt: dsn.orcpt ?? '',
    }));
    const header = (await this.firstOctets(blob)).subarray(0, wholeIndex(index).headerLength);
    return reportOfSuccess(store, { to, envid, header, reached, hostname, now: clock(), trace: traceId(), hold });
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
    case 'agent-stop':
      return refuse(
        done.error === 'budget_exceeded' ? 452 : 550,
        done.error === 'budget_exceeded' ? '4.7.1' : '5.7.1',
        whyOf(done),
      );
    case 'suppressed':
    case 'repeated':
    case 'changed':
      throw new Error(`a person's message was stopped as ${done.kind}`);
  }
}

function rowsFor(recipients: readonly Recipient[]): Submission['elsewhere'] {
  const rows = new Map(
    recipients.map((to) => [
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
