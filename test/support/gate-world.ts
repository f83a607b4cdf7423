import type { Submission } from '../../mail/delivery/submission.ts';
import { DEFAULT_POLICY, type AgentPolicy, type AgentSending } from '../../mail/agents/gate/types.ts';
import { submit, type SubmissionResult } from '../../mail/delivery/submission-commit.ts';
import { rowIn } from '../../src/core/message-ids.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { Trust } from '../../mail/policy/trust.ts';
import { addAccount } from '../../mail/store/account/account.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { type Command, command } from '../../mail/store/engine/types.ts';
import { recordTaints, type TaintReader } from '../../mail/agents/taint/taint.ts';
import { filterMail, putMail } from './put-mail.ts';
import { testAccount, testStore, type TestStore } from './store.ts';
import { unlimitedSubmission, outgoing } from './submission.ts';

/** Mail from outside, proved to be its author's unless `trust` says otherwise. */
export interface Letter {
  from: string;
  to?: string;
  cc?: string;
  replyTo?: string;
  id?: string;
  answers?: string;
  trust?: Partial<Trust> | null;
}

const traced = command('test-traced', async (tx, email: number): Promise<void> => {
  await tx.run('UPDATE email SET trace = ? WHERE id = ?', 'Return-Path: <eve@evil.example>\r\n', email);
});

/** The mailbox me@box.test of tenant 1, in which an agent works, and other@far.test of tenant 2 on the same box. */
export class GateWorld implements AsyncDisposable {
  readonly box: TestStore;
  readonly account: number;
  readonly foreign: number;
  #sent = 0;
  #put = 0;

  constructor(box: TestStore, account: number, foreign: number) {
    this.box = box;
    this.account = account;
    this.foreign = foreign;
  }

  /** `more`: commands of the test. */
  static async open(more: readonly Command<never, unknown>[] = []): Promise<GateWorld> {
    const parts = mailParts();
    const box = await testStore({ ...parts, commands: [...parts.commands, filterMail, traced, ...more] });
    const { account } = await testAccount(box.store);
    return new GateWorld(box, account, await secondTenant(box));
  }

  /** Puts a message into the mailbox; answers its row. */
  async put(letter: Letter): Promise<number> {
    const { from, to = 'me@box.test', cc, replyTo, answers, trust = {} } = letter;
    const id = letter.id ?? `put-${++this.#put}@x.test`;
    const fields = [
      `From: ${from}`,
      `To: ${to}`,
      ...(cc === undefined ? [] : [`Cc: ${cc}`]),
      ...(replyTo === undefined ? [] : [`Reply-To: ${replyTo}`]),
      ...(answers === undefined ? [] : [`In-Reply-To: <${answers}>`, `References: <${answers}>`]),
      `Message-ID: <${id}>`,
      'Subject: Something',
    ];
    const put = { account: this.account, receivedAt: this.box.clock.now, ...(trust !== null && { trust }) };
    const jmap = await putMail(this.box.store, put, `${fields.join('\n')}\n\nText\n`);
    return rowIn('email', this.account, jmap) ?? 0;
  }

  reader(over: Partial<TaintReader> = {}): TaintReader {
    return {
      tenant: 1,
      reader: 'tok_1',
      credential: 'tok_1',
      byPassword: false,
      internal: ['owner@home.test'],
      ...over,
    };
  }

  /** The same as the receiver stores it, with its trace header, which copies keep. */
  async receive(letter: Letter): Promise<number> {
    const email = await this.put(letter);
    await this.box.store.write(traced, email);
    return email;
  }

  /** The agent is shown messages. */
  read(emails: readonly number[], over: Partial<TaintReader> = {}): Promise<number> {
    return this.box.store.write(recordTaints, { reader: this.reader(over), account: this.account, emails });
  }

  agent(over: Partial<AgentSending> = {}): AgentSending {
    return {
      credential: 'tok_1',
      reader: 'tok_1',
      byPassword: false,
      internal: ['owner@home.test'],
      mode: 'normal',
      policy: DEFAULT_POLICY,
      governed: false,
      answers: null,
      forwards: false,
      secrets: [],
      attended: true,
      limits: null,
      ...over,
    };
  }

  policy(over: Partial<AgentPolicy>): Pick<AgentSending, 'policy' | 'governed'> {
    return { policy: { ...DEFAULT_POLICY, ...over }, governed: true };
  }

  message(to: readonly string[], agent: Partial<AgentSending> = {}, over: Partial<Submission> = {}): Submission {
    const text = 'From: me@box.test\r\nSubject: Hello\r\n\r\nText\r\n';
    const mail = outgoing(text, to, { trace: `trace-${++this.#sent}`, account: this.account });
    return { ...unlimitedSubmission(mail), verdict: { kind: 'agent', agent: this.agent(agent) }, ...over };
  }

  /** The agent sends. */
  send(
    to: readonly string[],
    agent: Partial<AgentSending> = {},
    over: Partial<Submission> = {},
  ): Promise<SubmissionResult> {
    return this.box.store.write(submit, this.message(to, agent, over));
  }

  /** A person sends from the same mailbox. */
  async sendManually(to: readonly string[], over: Partial<Submission> = {}): Promise<SubmissionResult> {
    return this.send(to, {}, { verdict: { kind: 'allow' }, ...over });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.box[Symbol.asyncDispose]();
  }
}

async function secondTenant({ store }: TestStore): Promise<number> {
  const domain = await store.write(addDomain, { tenant: 2, name: 'far.test', verified: true });
  if (domain.kind === 'taken') throw new Error('the domain is taken');
  const added = await store.write(addAccount, {
    tenant: 2,
    domain: domain.id,
    address: 'other@far.test',
    key: 'other@far.test',
    salt: new Uint8Array(16),
    iterations: 4096,
    credential: {
      ref: 'ref-other',
      kind: 'mailbox',
      name: 'password',
      scopes: ['imap', 'smtp'],
      storedKey: new Uint8Array(32),
      serverKey: new Uint8Array(32),
      sealed: null,
      expiresAt: null,
    },
  });
  if (added.kind !== 'added') throw new Error(added.kind);
  return added.account;
}

/** Codes of the reasons for which it waits; `taken`, or what stopped it. */
export function outcomeOf(done: SubmissionResult): string {
  if (done.kind === 'waits') return done.reasons.map(({ code }) => code).join(' ') || 'waits';
  return done.kind === 'agent-stop' ? `${done.error} ${done.reasons.map(({ code }) => code).join(' ')}` : done.kind;
}
