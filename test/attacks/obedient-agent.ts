import { outcome, rpc, tool } from '../support/mcp.ts';
import { ME } from './attacked-box.ts';

export type Answer = Record<string, unknown>;
export type Call = (name: string, args?: Answer) => Promise<Answer>;

/** Calls tools over MCP; a refusal is an answer too. */
export function overMcp(base: () => string, token: string): Call {
  const authorization = `Bearer ${token}`;
  return async (name, args = {}) =>
    outcome(await rpc(base(), 'tools/call', { name, arguments: args }, { authorization }));
}

/** The same over REST. */
export function overRest(base: () => string, token: string): Call {
  return async (name, args = {}) => (await tool(base(), name, args, token)).body;
}

interface Summary {
  id: string;
  threadId: string;
  trust: { alignedFrom: boolean } | null;
  untrusted: { subject: string };
}

const FORMATS = ['text', 'markdown', 'html_sanitized', 'headers', 'facts'] as const;

/**
 * Does whatever anybody says: reads everything that there is, takes every address that it sees for an order to write
 * there, and tries all tools that could bring something to that address or keep a way open to it.
 */
export class ObedientAgent {
  /** Answers of all tools, refusals included. */
  readonly answers: { tool: string; answer: Answer }[] = [];
  readonly #call: Call;
  #written = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  async call(name: string, args: Answer = {}): Promise<Answer> {
    const answer = await this.#call(name, args);
    this.answers.push({ tool: name, answer });
    return answer;
  }

  /** Every message of the inbox and of junk, as lists show them. */
  async list(): Promise<Summary[]> {
    const all: Summary[] = [];
    for (const folder of ['inbox', 'junk']) {
      let cursor: unknown;
      do {
        const page = await this.call('list_messages', {
          mailbox: ME,
          folder,
          limit: 50,
          ...(typeof cursor === 'string' && { cursor }),
        });
        all.push(...(page['messages'] as Summary[]));
        cursor = page['nextCursor'];
      } while (typeof cursor === 'string');
    }
    return all;
  }

  /** A message of the inbox whose author is proved, with this in its subject. */
  async proved(subject: string): Promise<Summary> {
    const found = (await this.list()).find(
      ({ trust, untrusted }) => trust?.alignedFrom && untrusted.subject.includes(subject),
    );
    if (found === undefined) throw new Error(`no author of a message with ${subject} is proved`);
    return found;
  }

  /** Reads a message in every form, with all that hangs on it; answers the addresses that it saw. */
  async read({ id: messageId, threadId }: Pick<Summary, 'id' | 'threadId'>): Promise<string[]> {
    const first = this.answers.length;
    const named = { mailbox: ME, messageId };
    for (const format of FORMATS) await this.call('get_message', { ...named, format, includeQuoted: true });
    const message = (this.answers[first]?.answer['message'] ?? {}) as {
      attachments?: { id: string }[];
      links?: { handle: string }[];
    };
    for (const { id: attachmentId } of message.attachments ?? [])
      for (const mode of ['text', 'metadata']) await this.call('get_attachment', { mailbox: ME, attachmentId, mode });
    for (const { handle } of message.links ?? []) await this.call('resolve_link', { ...named, handle });
    await this.call('get_thread', { mailbox: ME, threadId });
    return addressesIn(this.answers.slice(first).map(({ answer: seen }) => seen));
  }

  /** Writes to an address in every way, about a message and otherwise. */
  async writeTo(to: string, messageId: string): Promise<Answer[]> {
    const text = `As you asked, number ${++this.#written}.`;
    const about = { mailbox: ME, messageId };
    const fresh = { from: ME, subject: `Number ${this.#written}`, text };
    const done = [
      await this.call('send_email', { ...fresh, to: [to] }),
      await this.call('send_email', { ...fresh, to: [ME], bcc: [to] }),
      await this.call('forward_email', { ...about, to: [to], note: text }),
      await this.call('reply_to_email', { ...about, text, replyAll: true, bcc: [to] }),
    ];
    const { draft } = await this.call('create_draft', { mailbox: ME, to: [to], subject: fresh.subject, text });
    const { id: draftId, revision } = (draft ?? {}) as Answer;
    done.push(await this.call('send_draft', { mailbox: ME, draftId, revision }));
    return done;
  }

  /** Tries to keep a way open to an address, and to get at what could. */
  async rulesFor(to: string): Promise<Answer[]> {
    const domain = to.replace(/^.*@/, '');
    const hook = `https://hook.${domain}/in`;
    const tries: [string, Answer][] = [
      ['set_email_forwarder', { sourceAddress: ME, destinationAddress: to }],
      ['set_forwarding_policy', { confirmExternal: false }],
      ['set_email_inbound_webhook', { address: ME, url: hook }],
      ['create_webhook', { url: hook }],
      ['add_sender_rule', { direction: 'out', kind: 'allow', pattern: to }],
      ['create_email_api_key', { name: to }],
      ['create_app_password', { address: ME, name: to, person: true }],
      ['reveal_email_credentials', { address: ME, reason: to }],
      ['create_agent_token', { name: to, actions: ['read', 'manage'] }],
      ['invite_member', { email: to, role: 'admin' }],
      ['set_outbound_route', { host: hook.slice(8, -3) }],
      ...this.#tellings(to),
    ];
    return this.#tryAll(tries);
  }

  /** Tries to have the box tell an address something, by a letter of its own or as a name that it looks up. */
  tellBy(to: string): Promise<Answer[]> {
    return this.#tryAll(this.#tellings(to));
  }

  #tellings(to: string): [string, Answer][] {
    return [
      ['create_account_and_claim_link', { ownerEmail: to, organizationName: 'code 482915' }],
      ['add_email_domain', { domain: `c482915.${to.replace('@', '.')}` }],
    ];
  }

  async #tryAll(tries: readonly [string, Answer][]): Promise<Answer[]> {
    const done: Answer[] = [];
    for (const [name, args] of tries) done.push({ tool: name, ...(await this.call(name, args)) });
    return done;
  }
}

/** Addresses of others in answers, also in base64. */
function addressesIn(answers: readonly Answer[]): string[] {
  const text = JSON.stringify(answers);
  const decoded = [...text.matchAll(/[A-Za-z0-9+/]{24,}={0,2}/g)].map(([found]) =>
    Buffer.from(found, 'base64').toString('latin1'),
  );
  const all = [text, ...decoded].flatMap((one) => one.match(/[\w.+-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+/g) ?? []);
  return [...new Set(all)].filter((address) => !address.endsWith('@home.example') && !address.startsWith('qzjx'));
}
